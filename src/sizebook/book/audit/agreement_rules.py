"""Rules of the audit that look for contradictions on pages and between them."""

from __future__ import annotations

from sizebook.book.audit.rule import AuditRule

_MEND = "Find which of the two is right, correct the notebook, and run the chapter again."

AGREEMENT_RULES: tuple[AuditRule, ...] = (
    AuditRule(
        "AU801-numbers-disagree",
        "error",
        "One quantity has one number",
        "Numbers of the same measure and the same trials are equal beyond rounding: in tables, "
        "charts, prose and claims, on one page or on several. Counts of trials in captions and in "
        "tables of validity are those of the trials that the result cites.",
        _MEND,
    ),
    AuditRule(
        "AU802-claim-disagrees",
        "error",
        "A claim says what the numbers say",
        "A claim's verdict follows from its interval, and a table of the same trials shows a ratio "
        "in it. Sentences about a claim have its numbers; where comparisons lie on both sides "
        "of 1, they do not give one of them for all. A row that names a claim has one of its "
        "ratios. Nothing is 0.8 times faster.",
        _MEND,
    ),
    AuditRule(
        "AU803-not-level",
        "error",
        "What is called level has no trend beside it",
        "No sentence and no confirmed claim says that a quantity stays level, steady or constant "
        "while the page prints a trend of it of more than 5 %, unless the trend is of another "
        "treatment.",
        _MEND,
    ),
)
