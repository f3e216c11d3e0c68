"""What a chapter's notebook publishes: figures, tables, numbers and prose, each with evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from sizebook.lab import ChapterLab, Trial, Trials
from sizebook.lab import doubts as doubts_of
from sizebook.lab.measurement_cache import taken_as_measured
from sizebook.lab.plan_only import is_planned_only
from sizebook.model.claim import OWN, Claim, ClaimOutcome, Relation
from sizebook.report import chart as charts
from sizebook.report import claim_card, claims, sides, wording
from sizebook.report.evidence import (
    Evidence,
    EvidenceFile,
    EvidenceSource,
    hash_json,
    hash_text,
    make_evidence,
)
from sizebook.report.measured import measurand_field
from sizebook.report.reported_files import evidence_files
from sizebook.report.showing import checked_key, is_unseen, show
from sizebook.stats.noise import NoiseFloor
from sizebook.store import Project

__all__ = ["EvidenceSource", "Page"]

Behind = Trials | Iterable[Trials]
"""The trials that a result was made from: those of one design, or of several."""


class Page:
    """Publishes one chapter's results: each call shows one output that carries its evidence.

    The record stands in the output's metadata under ``"sizebook"``; the book, the audit and the
    comparison read it from there. Keys are lower-case words with hyphens, and name a result once
    in a chapter::

        page = Page.of(lab, users=users)
        page.figure(chart, "total-time", "Total time.", "Line chart: …", trials=trials["formats"])
        page.prose("Atom took {ratio:.1f} times as long.", ratio=ratio, trials=trials["formats"])

    ``trials`` are the trials that a result was made from: their bundles become its evidence, and
    what is wrong with them stands in the figure or table itself.

    In a notebook that is only read for its plan a page shows nothing: keys and numbers are checked,
    and nothing is drawn.
    """

    def __init__(
        self,
        chapter: str,
        parameters: Mapping[str, Any],
        *,
        command: str,
        sources: Sequence[EvidenceSource] = (),
        project: Project | None = None,
    ) -> None:
        """Open the page of a chapter; ``sources`` stand behind results that name no trials.

        The reports' claims are looked up in ``project``, by default the one around this folder.
        """
        commit = "unknown" if is_planned_only() else ""  # a plan shows no evidence
        self.evidence: Evidence = make_evidence(
            checked_key(chapter), parameters, sources, command, commit=commit
        )
        self._numbers: dict[str, wording.Scalar] = {}
        self._claims: dict[str, claims.Decided] = {}
        self._project = project

    @classmethod
    def of(cls, lab: ChapterLab, **levels: Any) -> Page:
        """Return the page of a chapter's lab; ``levels`` are the notebook's further parameters."""
        source = "measure" if taken_as_measured() else lab.source
        parameters = {"profile": lab.profile.name, "source": source, "seed": lab.seed} | levels
        words = ["sizebook run", lab.chapter, f"--profile {lab.profile.name}"]
        words += [f"-p {name}={_as_parameter(value)}" for name, value in levels.items()]
        command = " ".join([*words, f"-p seed={lab.seed}"])
        return cls(lab.chapter, parameters, command=command, project=lab.project)

    def figure(
        self,
        chart: Any,
        key: str,
        caption: str,
        alt: str,
        *,
        trials: Behind = (),
        files: Sequence[EvidenceFile] = (),
        doubts: Sequence[str] = (),
    ) -> None:
        """Show an Altair chart: live in JupyterLab and the book, an SVG on paper.

        ``alt`` says in words what the chart shows. ``doubts`` such as "2 of 12 trials noisy", and
        those of the trials, stand in the chart itself and in the caption. ``files`` are those of
        the project that it was made from, such as ``reported_files.evidence_files()``.
        """
        if is_unseen(key):
            return
        doubts = [*_doubts(trials), *doubts]
        spec, fluid = charts.prepare_chart(chart, doubts)
        record = self._record("figure", key, hash_json(spec), trials, files)
        record |= {"caption": _caption(caption, doubts), "alt": alt, "fluid": fluid}
        bundle = {
            charts.MIME: spec,
            "image/svg+xml": charts.render_svg(spec),
            "text/plain": f"Figure {key}: {alt}",
        }
        show(bundle, record)

    def table(
        self,
        gt: Any,
        key: str,
        caption: str,
        *,
        trials: Behind = (),
        files: Sequence[EvidenceFile] = (),
        doubts: Sequence[str] = (),
    ) -> None:
        """Show a Great Tables table; its doubts stand below the rows and in the caption."""
        if is_unseen(key):
            return
        doubts = [*_doubts(trials), *doubts]
        for doubt in doubts:
            gt = gt.tab_source_note(f"\u26a0 {doubt}")
        html = gt.with_id(f"gt-{checked_key(key)}").as_raw_html()
        record = self._record("table", key, hash_text(html), trials, files)
        record["caption"] = _caption(caption, doubts)
        show({"text/html": html, "text/plain": f"Table {key}: {record['caption']}"}, record)

    def publish(
        self,
        kind: str,
        key: str,
        caption: str,
        make: Callable[[Sequence[str]], Mapping[str, Any]],
        sha256: str,
        *,
        trials: Behind,
        **fields: Any,
    ) -> None:
        """Show a result of another kind; ``make`` gives its bundle with the doubts in it."""
        doubts = _doubts(trials)
        fields |= {"caption": _caption(caption, doubts), "doubts": doubts}
        plain = f"{kind.capitalize()} {key}: {fields['caption']}"
        show(
            {**make(doubts), "text/plain": plain}, self._record(kind, key, sha256, trials) | fields
        )

    def value(
        self,
        key: str,
        value: Any,
        unit: str = "",
        digits: int | str | None = None,
        *,
        trials: Behind = (),
    ) -> None:
        """Publish one number, text or truth value for the prose of other pages.

        ``digits`` is the number of decimals, or a format specification, for pages that give none.
        None and NaN are published as missing.
        """
        scalar = wording.to_scalar(key, value)
        spec = f",.{digits}f" if isinstance(digits, int) else digits or ""
        words = wording.format_scalar(scalar, spec, unit)
        record = self._record("value", key, hash_json(scalar), trials)
        record |= {"value": scalar, "unit": unit, "format": spec, **measurand_field(value)}
        self._numbers[key] = scalar
        show({"text/plain": f"{key} = {words}"}, record)

    def prose(self, template: str, *, trials: Behind = (), **values: Any) -> None:
        """Show a paragraph of Markdown with computed numbers in it.

        ``{name:format}`` takes the keyword of that name; the book links it to its evidence and
        any page can quote it as ``name`` (underscores become hyphens). Text from data is escaped.
        """
        self._say(wording.parse_template(template), values, _sources(trials))

    def claim(
        self,
        claim: str | Claim,
        frame: pl.DataFrame,
        metric: str,
        left: Mapping[str, Any] | None = None,
        right: Mapping[str, Any] | None = None,
        *,
        trials: Behind,
        pairs: Sequence[sides.Pair] | None = None,
        least: float | None = None,
        floor: NoiseFloor | None = None,
        relation: Relation | None = None,
        note: str = "",
    ) -> ClaimOutcome:
        """Put a claim to the test and show it with its verdict; return the outcome.

        ``claim`` is the id of a report's claim or ``own_claim(...)``. ``left`` and ``right`` are
        the treatments whose ratio of ``metric`` it is about, or ``pairs`` several such, all of
        which must show it. Only valid trials count; see ``report.claims.decide_claim``. Without a
        pair, since none of them was measured, the claim is not run.
        """
        if (left is None) != (right is None) or (pairs is None) == (left is None):
            raise ValueError("a claim compares either left with right, or pairs of them")
        both = [(left, right)] if left is not None and right is not None else list(pairs or ())
        if not both:
            return self.claim_untested(claim, "none of its treatments was measured")
        known = self._find_claim(claim)
        decided = claims.decide_claim(
            known,
            frame,
            metric,
            both,
            chapter=self.evidence.chapter,
            trials=claims.gather(trials),
            least=least,
            floor=floor,
            relation=relation,
            note=note,
        )
        return self._show_claim(known, decided)

    def claim_event(
        self,
        claim: str | Claim,
        frame: pl.DataFrame,
        event: str,
        *treatments: Mapping[str, Any],
        trials: Behind,
        note: str = "",
    ) -> ClaimOutcome:
        """Put a claim to the test that something happens, or that a count is right.

        Column ``event`` of the frame is true in a trial that shows what is claimed. It is confirmed
        if every treatment shows it in enough replicates: 5 of 5, see ``stats.decisions``.
        """
        known = self._find_claim(claim)
        decided = claims.decide_event_claim(
            known,
            frame,
            event,
            treatments or ({},),
            chapter=self.evidence.chapter,
            trials=claims.gather(trials),
            note=note,
        )
        return self._show_claim(known, decided)

    def claim_untested(self, claim: str | Claim, reason: str) -> ClaimOutcome:
        """Show a claim that this run could not put to the test, with the reason."""
        known = self._find_claim(claim)
        decided = claims.leave_untested(known, self.evidence.chapter, reason)
        return self._show_claim(known, decided)

    def says(
        self,
        claim: str,
        *,
        confirmed: str,
        contradicted: str,
        undetermined: str = claim_card.DEFAULTS["undetermined"],
        not_run: str = claim_card.DEFAULTS["not run"],
        **values: Any,
    ) -> None:
        """Show the paragraph that fits the verdict of a claim decided before on this page.

        The templates can name ``effect``, ``low``, ``high``, ``n``, ``least``, ``reported``,
        ``measured`` (effect with interval), ``reason`` and the ``values`` passed; all four are
        checked whatever the verdict. Raises ValueError for a claim that was not decided before.
        """
        if claim not in self._claims:
            raise ValueError(f"claim {claim!r} was not decided on this page before")
        decided = self._claims[claim]
        texts = {
            "confirmed": confirmed,
            "contradicted": contradicted,
            "undetermined": undetermined,
            "not run": not_run,
        }
        known = claim_card.claim_values(decided.outcome) | values
        said = wording.choose(texts, decided.outcome.verdict, known, set(values))
        used = {name: known[name] for name in said.names}
        self._say(said, used, _sources_of(decided.trials), claim)

    def _find_claim(self, claim: str | Claim) -> Claim:
        known = claims.find_claim(claim, self._project) if isinstance(claim, str) else claim
        if known.claim_id in self._claims:
            raise ValueError(f"claim {known.claim_id!r} was decided on this page before")
        return known

    def _show_claim(self, claim: Claim, decided: claims.Decided) -> ClaimOutcome:
        outcome = decided.outcome
        self._claims[outcome.claim_id] = decided
        fields = outcome.as_record()
        sources = _sources_of(decided.trials)
        files = () if claim.source == OWN else evidence_files("claims", project=self._project)
        record = self._record_from("claim", outcome.claim_id, hash_json(fields), sources, files)
        bundle = {
            "text/html": claim_card.render_card(outcome, claim),
            "text/plain": claim_card.render_text(outcome),
        }
        show(bundle, {**record, "claim": fields})
        return outcome

    def _say(
        self,
        sentence: wording.Sentence,
        values: Mapping[str, Any],
        sources: list[EvidenceSource],
        claim: str = "",
    ) -> None:
        """Show a paragraph; the keys of a claim's numbers begin with its id."""
        scalars = {name: wording.to_scalar(name, value) for name, value in values.items()}
        words = wording.fill(sentence, scalars)
        prefix = f"{claim}-" if claim else ""
        keys = {name: self._number_key(prefix + name, scalar) for name, scalar in scalars.items()}
        sha256 = hash_text(sentence.join(words))
        record = self._record_from("prose", "prose", sha256, sources)
        if claim:
            record["claims"] = [claim]
        record["texts"] = list(sentence.texts)
        record["numbers"] = [
            {"key": keys[gap.name], "value": scalars[gap.name], "words": word, "format": gap.format}
            | measurand_field(values[gap.name])
            for gap, word in zip(sentence.placeholders, words, strict=True)
        ]
        markdown = sentence.join([wording.escape_markdown(word) for word in words])
        show({"text/markdown": markdown, "text/plain": sentence.join(words)}, record)

    def _record(
        self,
        kind: str,
        key: str,
        sha256: str,
        trials: Behind,
        files: Sequence[EvidenceFile] = (),
    ) -> dict[str, Any]:
        return self._record_from(kind, key, sha256, _sources(trials), files)

    def _record_from(
        self,
        kind: str,
        key: str,
        sha256: str,
        sources: list[EvidenceSource],
        files: Sequence[EvidenceFile] = (),
    ) -> dict[str, Any]:
        record = {"kind": kind, "key": checked_key(key), "unit": ""}
        return {**record, "evidence": self.evidence.as_record(sha256, sources, files)}

    def _number_key(self, name: str, scalar: wording.Scalar) -> str:
        """Give the key of a number in prose; another value under a name in use gets a suffix."""
        first = key = checked_key(name.strip("_").lower().replace("_", "-"))
        count = 1
        while key in self._numbers and self._numbers[key] != scalar:
            count += 1
            key = f"{first}-{count}"
        self._numbers[key] = scalar
        return key


def _groups(trials: Behind) -> list[Trials]:
    return [trials] if isinstance(trials, Trials) else list(trials)


def _sources(trials: Behind) -> list[EvidenceSource]:
    """Return the bundles behind a result, each once."""
    return _sources_of(trial for group in _groups(trials) for trial in group)


def _sources_of(trials: Iterable[Trial]) -> list[EvidenceSource]:
    found = {
        trial.bundle.id: EvidenceSource(trial.bundle.id, trial.bundle.sha256, trial.verdict)
        for trial in trials
    }
    return list(found.values())


def _doubts(trials: Behind) -> list[str]:
    groups = _groups(trials)
    if len(groups) == 1:
        return list(groups[0].doubts())
    planned = sum(group.expected for group in groups)
    return list(doubts_of([trial for group in groups for trial in group], planned))


def _as_parameter(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _caption(caption: str, doubts: Sequence[str]) -> str:
    return f"{caption} \u26a0 {'; '.join(doubts)}." if doubts else caption
