"""Claims whose least effect that matters is smaller than what the planned blocks can see.

Known before anything is measured where the chapter was published: the intervals of its claims say
how far blocks lie apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sizebook.book.compared.pages import read_results
from sizebook.book.planning import PlannedChapter
from sizebook.lab.profiles import get_profile
from sizebook.model.claim import ClaimOutcome
from sizebook.stats.decisions import ratio_words
from sizebook.stats.looks import level_after
from sizebook.stats.power import expected_width
from sizebook.store import Project
from sizebook.store.plain_files import plain_size
from sizebook.store.rounds import PAGES, find_rounds, newest_packs, open_published

_MOST_BLOCKS = 1000


@dataclass(frozen=True)
class TooSmall:
    """A claim that the planned blocks will hardly decide."""

    claim_id: str
    least: float
    """Least ratio that matters."""
    width: float
    """Half the interval to be expected, as a ratio above 1."""
    blocks: int
    """Blocks planned."""
    needed: int | None
    """Blocks in which the interval is as narrow as the least ratio; None: more than a thousand."""
    round: str
    """Name of the round that the spread comes from."""

    @property
    def sentence(self) -> str:
        """The warning in one line."""
        blocks = f"more than {_MOST_BLOCKS}" if self.needed is None else self.needed
        return (
            f"claim {self.claim_id}: an effect of {ratio_words(self.least)} is too small for "
            f"{self.blocks} blocks; they show {ratio_words(self.width)} or more by the spread of "
            f"round {self.round}, and {blocks} blocks would do"
        )


def find_too_small(project: Project, planned: PlannedChapter) -> tuple[TooSmall, ...]:
    """Return the claims of a chapter whose ``least`` is below what its planned blocks can see.

    By the newest round that has the chapter; nothing where none has it, or where the profile
    decides no claims. Raises UserError for a published page that cannot be read.
    """
    blocks = _blocks(planned)
    packs = newest_packs(find_rounds(project)) if blocks else {}
    chapter = planned.chapter.id
    if chapter not in packs:
        return ()
    folder = open_published(project) / PAGES
    if plain_size(folder, f"{chapter}.ipynb") is None:
        return ()
    claims = read_results(folder / f"{chapter}.ipynb").claims
    return compare_least(claims, blocks, packs[chapter].round.name)


def compare_least(
    claims: Mapping[str, ClaimOutcome], blocks: int, round_name: str
) -> tuple[TooSmall, ...]:
    """Return the claims whose widest comparison will be wider than their ``least``."""
    found = []
    for outcome in claims.values():
        seen = list(_intervals(outcome))
        least = outcome.least
        if least is None or not seen:
            continue
        width = _widest(seen, blocks)
        if least < width:
            needed = next(
                (more for more in range(blocks + 1, _MOST_BLOCKS + 1)
                 if _widest(seen, more) <= least),
                None,
            )  # fmt: skip
            found.append(TooSmall(outcome.claim_id, least, width, blocks, needed, round_name))
    return tuple(found)


def _widest(seen: Sequence[tuple[float, float, int]], blocks: int) -> float:
    """Return half of the widest interval to be expected, at the level that decides then."""
    return max(expected_width(*one, blocks, level=level_after(blocks)) for one in seen)


def _intervals(outcome: ClaimOutcome) -> Iterable[tuple[float, float, int]]:
    for pair in outcome.comparisons:
        if pair.low is not None and pair.high is not None and pair.n >= 2:
            yield pair.low, pair.high, pair.n


def _blocks(planned: PlannedChapter) -> int:
    """Return the most blocks of any experiment; 0 where the profile's numbers decide nothing."""
    profiles = {trial.profile for session in planned.sessions for trial in session.trials}
    if not all(get_profile(name).publishable for name in profiles):
        return 0
    blocks: dict[str, set[int]] = {}
    for session in planned.sessions:
        blocks.setdefault(session.experiment, set()).add(session.replicate)
    return max((len(each) for each in blocks.values()), default=0)
