"""What a chapter's notebook publishes: figures, tables, numbers and prose, each with evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from IPython.display import display

from sizebook.lab import ChapterLab, Trials
from sizebook.lab import doubts as doubts_of
from sizebook.report import chart as charts
from sizebook.report import wording
from sizebook.report.evidence import Evidence, EvidenceSource, hash_json, hash_text, make_evidence

__all__ = ["METADATA_KEY", "EvidenceSource", "Page"]

METADATA_KEY = "sizebook"
Behind = Trials | Iterable[Trials]
"""The trials that a result was made from: those of one design, or of several."""
_KEY = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


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
    """

    def __init__(
        self,
        chapter: str,
        parameters: Mapping[str, Any],
        *,
        command: str,
        sources: Sequence[EvidenceSource] = (),
    ) -> None:
        """Open the page of a chapter; ``sources`` stand behind results that name no trials."""
        self.evidence: Evidence = make_evidence(_checked_key(chapter), parameters, sources, command)
        self._numbers: dict[str, wording.Scalar] = {}

    @classmethod
    def of(cls, lab: ChapterLab, **levels: Any) -> Page:
        """Return the page of a chapter's lab; ``levels`` are the notebook's further parameters."""
        parameters = {"profile": lab.profile.name, "source": lab.source, "seed": lab.seed} | levels
        words = ["sizebook run", lab.chapter, f"--profile {lab.profile.name}"]
        words += [f"-p {name}={_as_parameter(value)}" for name, value in levels.items()]
        return cls(lab.chapter, parameters, command=" ".join([*words, f"-p seed={lab.seed}"]))

    def figure(
        self,
        chart: Any,
        key: str,
        caption: str,
        alt: str,
        *,
        trials: Behind = (),
        doubts: Sequence[str] = (),
    ) -> None:
        """Show an Altair chart: live in JupyterLab and the book, an SVG on paper.

        ``alt`` says in words what the chart shows. ``doubts`` such as "2 of 12 trials noisy", and
        those of the trials, stand in the chart itself and in the caption.
        """
        doubts = [*_doubts(trials), *doubts]
        spec, fluid = charts.prepare_chart(chart, doubts)
        record = self._record("figure", key, hash_json(spec), trials)
        record |= {"caption": _caption(caption, doubts), "alt": alt, "fluid": fluid}
        bundle = {
            charts.MIME: spec,
            "image/svg+xml": charts.render_svg(spec),
            "text/plain": f"Figure {key}: {alt}",
        }
        _show(bundle, record)

    def table(
        self,
        gt: Any,
        key: str,
        caption: str,
        *,
        trials: Behind = (),
        doubts: Sequence[str] = (),
    ) -> None:
        """Show a Great Tables table; its doubts stand below the rows and in the caption."""
        doubts = [*_doubts(trials), *doubts]
        for doubt in doubts:
            gt = gt.tab_source_note(f"\u26a0 {doubt}")
        html = gt.with_id(f"gt-{_checked_key(key)}").as_raw_html()
        record = self._record("table", key, hash_text(html), trials)
        record["caption"] = _caption(caption, doubts)
        _show({"text/html": html, "text/plain": f"Table {key}: {record['caption']}"}, record)

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
        record |= {"value": scalar, "unit": unit, "format": spec}
        self._numbers[key] = scalar
        _show({"text/plain": f"{key} = {words}"}, record)

    def prose(self, template: str, *, trials: Behind = (), **values: Any) -> None:
        """Show a paragraph of Markdown with computed numbers in it.

        ``{name:format}`` takes the keyword of that name; the book links it to its evidence and
        any page can quote it as ``name`` (underscores become hyphens). Text from data is escaped.
        """
        sentence = wording.parse_template(template)
        scalars = {name: wording.to_scalar(name, value) for name, value in values.items()}
        words = wording.fill(sentence, scalars)
        keys = {name: self._number_key(name, scalar) for name, scalar in scalars.items()}
        record = self._record("prose", "prose", hash_text(sentence.join(words)), trials)
        record["texts"] = list(sentence.texts)
        record["numbers"] = [
            {"key": keys[gap.name], "value": scalars[gap.name], "words": word, "format": gap.format}
            for gap, word in zip(sentence.placeholders, words, strict=True)
        ]
        markdown = sentence.join([wording.escape_markdown(word) for word in words])
        _show({"text/markdown": markdown, "text/plain": sentence.join(words)}, record)

    def _record(self, kind: str, key: str, sha256: str, trials: Behind) -> dict[str, Any]:
        record = {"kind": kind, "key": _checked_key(key), "unit": ""}
        return {**record, "evidence": self.evidence.as_record(sha256, _sources(trials))}

    def _number_key(self, name: str, scalar: wording.Scalar) -> str:
        """Give the key of a number in prose; another value under a name in use gets a suffix."""
        first = key = _checked_key(name.strip("_").lower().replace("_", "-"))
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
    found = {
        trial.bundle.id: EvidenceSource(trial.bundle.id, trial.bundle.sha256, trial.verdict)
        for group in _groups(trials)
        for trial in group
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


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key: lower-case words and digits joined by hyphens")
    return key


def _caption(caption: str, doubts: Sequence[str]) -> str:
    return f"{caption} \u26a0 {'; '.join(doubts)}." if doubts else caption


def _show(bundle: dict[str, Any], record: dict[str, Any]) -> None:
    show: Any = display  # IPython's display has no types
    show(bundle, raw=True, metadata={METADATA_KEY: record})
