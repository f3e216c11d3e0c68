"""Rules of the audit that look at pages and their replay."""

from __future__ import annotations

from sizebook.book.audit.rule import MEASURE, RUN, AuditRule

PAGE_RULES: tuple[AuditRule, ...] = (
    AuditRule(
        "AU200-page",
        "error",
        "The chapter has a readable executed notebook",
        "Every chapter in the table of contents has an executed notebook in Jupyter's format.",
        RUN,
    ),
    AuditRule(
        "AU201-template",
        "error",
        "The template is the one that was executed",
        "The checksum over the template's cells is the one that was written into the page when "
        "it was executed: otherwise text or code changed since.",
        RUN,
    ),
    AuditRule(
        "AU202-cells",
        "error",
        "The page has the template's cells",
        "Code, text and tags of the executed notebook are those of its template: what stands "
        "there is what was executed.",
        RUN,
    ),
    AuditRule(
        "AU203-parameters",
        "error",
        "The page has one set of parameters",
        "The recorded parameters are known to the template, and are the ones in the cell that "
        "was executed with them.",
        RUN,
    ),
    AuditRule(
        "AU204-content",
        "error",
        "What is shown has the recorded checksum",
        "The checksum of a chart's specification, a table's HTML, a value, a paragraph or a "
        "claim, computed again, is the one in its evidence.",
        RUN,
    ),
    AuditRule(
        "AU205-words",
        "error",
        "Words say what the record says",
        "The text of a result (Markdown, plain text, the words of a number) follows from its "
        "values and formats.",
        RUN,
    ),
    AuditRule(
        "AU206-picture",
        "error",
        "The picture is the drawing of its data",
        "The static SVG of a figure is what its specification draws.",
        RUN,
    ),
    AuditRule(
        "AU207-cited-missing",
        "error",
        "Cited bundles are there",
        "Every bundle that a result names as evidence is among those audited.",
        "Get the bundle, or run the chapter again.",
    ),
    AuditRule(
        "AU208-cited-other",
        "error",
        "Cited bundles are the ones that were used",
        "The bundle has the checksum in the evidence, and nothing is wrong with it.",
        RUN,
    ),
    AuditRule(
        "AU209-cited-verdict",
        "error",
        "Trials have the verdict that the page gives them",
        "The verdict in the evidence is what the checks say of the bundle now.",
        RUN,
    ),
    AuditRule(
        "AU210-twice",
        "error",
        "A key names one result",
        "A page publishes no two different results under one key.",
        "Give one of them another key in the template and run the chapter again.",
    ),
    AuditRule(
        "AU211-commit",
        "warning",
        "The page was made by a commit",
        "A page made from a checkout with changes, or outside of one, cannot be made again from "
        "its commit alone.",
        "Commit, then run the chapter again.",
    ),
    AuditRule(
        "AU212-no-record",
        "warning",
        "Every output has a record",
        "An output without a record shows something that nobody can trace.",
        "Publish it through the page's figure, table, value, prose or claim, or hide it.",
    ),
    AuditRule(
        "AU213-up-to-date",
        "note",
        "The page is up to date",
        "Sources changed since the page was made. Whether it still shows what they make of the "
        "bundles is what the replay tells.",
        RUN,
    ),
    AuditRule(
        "AU214-result",
        "error",
        "The result's record can be read",
        "A record has its kind, key and evidence, as this version writes them.",
        RUN,
    ),
    AuditRule(
        "AU215-file",
        "error",
        "The notebook's file is the template's, executed",
        "Cells have the template's ids, metadata and attachments, the notebook has its metadata "
        "and format. Executing adds the cell with parameters (in its place), counts (each cell "
        "once, in order), the language and the stamp of the run. Anything else can hide or change "
        "what a reader sees.",
        RUN,
    ),
    AuditRule(
        "AU216-output",
        "error",
        "Results are stored as results are",
        "An output with a record is display data with the representations of its kind, and no "
        "others: the site chooses by type and representation what it shows.",
        RUN,
    ),
    AuditRule(
        "AU217-unknown-source",
        "error",
        "The page is from a known source",
        "The commit that made the page is in this repository, and holds the page's template and "
        "the harness's version. A warning for a page that somebody sent, who may have another "
        "repository.",
        "Ask where the page comes from, or run the chapter again.",
    ),
    AuditRule(
        "AU218-commit-unchecked",
        "note",
        "The page's commit can be looked up",
        "Without git, outside a repository, in a shallow clone, or where the history begins after "
        "the page's trials, nobody can tell whether there is such a commit.",
        "Audit in a whole clone: git fetch --unshallow.",
    ),
    AuditRule(
        "AU219-provenance",
        "error",
        "A page says one thing of its origin",
        "Commit, harness and source in the evidence of results are those of the page, the template "
        "has the name that it gives, its trials have its profile, and its source is where they "
        "are.",
        RUN,
    ),
    AuditRule(
        "AU301-differs",
        "error",
        "The result follows from the bundles",
        "The template, executed again on the page's own bundles, makes the same figure, table, "
        "number, paragraph or claim with the same caption and evidence. A change whose checksum "
        "was mended, too, shows here.",
        RUN,
    ),
    AuditRule(
        "AU302-missing",
        "error",
        "The replay makes every result of the page",
        "A result, or another output that a reader sees, that the template does not make was put "
        "into the page.",
        RUN,
    ),
    AuditRule(
        "AU303-new",
        "error",
        "The page shows every result of the replay",
        "A result that the template makes was taken out of the page.",
        RUN,
    ),
    AuditRule(
        "AU304-moment",
        "note",
        "Results of the moment",
        "A cell with the tag of-the-moment shows the machine as it was when it ran, such as its "
        "free memory: it follows from no bundle and cannot be recomputed.",
        "Nothing: look at the page and believe it or not.",
    ),
    AuditRule(
        "AU305-no-replay",
        "error",
        "The template can be executed again",
        "Executing the template on the page's bundles ended with an error, so that none of its "
        "results could be recomputed.",
        "See the message; sizebook run CHAPTER --source FOLDER does the same.",
    ),
    AuditRule(
        "AU306-no-template",
        "error",
        "The page's template is known here",
        "Without the template none of the page's results can be recomputed. A notebook's own "
        "code is never executed.",
        "Use the release of Sizebook that made the page.",
    ),
    AuditRule(
        "AU307-place",
        "error",
        "Results stand where the template puts them",
        "Each result is in the cell, and in the order, in which the replay makes it: elsewhere it "
        "would be read as an answer to another question.",
        RUN,
    ),
    AuditRule(
        "AU308-other-treatment",
        "error",
        "Trials are those of their treatment",
        "Load, deployment, seed, allowance and all else that a trial was specified with is what "
        "the page's design gives its treatment, on the machine that measured it. Labels that were "
        "exchanged show here. Where an inventory placed the trial, the deployment is not compared; "
        "of conditioning loads length and closed users are not.",
        MEASURE,
    ),
    AuditRule(
        "AU309-missing-treatment",
        "error",
        "Every treatment of a page's design has its trials",
        "Each treatment that the template makes of the page's parameters has a trial in each block "
        "that is due, and searches ended by themselves. A warning where nothing of a design is "
        "there: its page says then that it was not run. So it is for a page of what was measured "
        "so far within a budget, which is never published.",
        "Get the missing bundles, or run the chapter: what is missing is measured.",
    ),
)
