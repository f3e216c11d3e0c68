"""Rules of the audit that look at bundles: what they compare, how bad it is, what to do."""

from __future__ import annotations

from sizebook.book.audit.rule import MEASURE, AuditRule

BUNDLE_RULES: tuple[AuditRule, ...] = (
    AuditRule(
        "AU101-record",
        "error",
        "The bundle's record can be read",
        "trial.json is of a version known here, has all its fields and no other, and every file "
        "that it names is there with its size.",
        MEASURE,
    ),
    AuditRule(
        "AU102-checksum",
        "error",
        "Every file has its recorded checksum",
        "The SHA-256 of each file of the bundle is the one in trial.json.",
        MEASURE,
    ),
    AuditRule(
        "AU103-unnamed-file",
        "error",
        "The bundle holds no other file",
        "A file that the record does not name was put there later.",
        "Look at what it is and take it out.",
    ),
    AuditRule(
        "AU104-table",
        "error",
        "Tables have their columns and types",
        "Requests, counters and schedule are Parquet tables with exactly the columns and types "
        "that this version writes.",
        MEASURE,
    ),
    AuditRule(
        "AU105-identity",
        "error",
        "The record agrees with itself",
        "The cache key is that of the specification and fingerprints, the machine's fingerprint "
        "is that of its facts, and the start in UTC is that of the clock.",
        MEASURE,
    ),
    AuditRule(
        "AU106-accounting",
        "error",
        "The rows agree with the record",
        "Of a completed trial the rules SB101 (every request is accounted for) and SB102 (every "
        "row lies in its phase) hold, recomputed here.",
        MEASURE,
    ),
    AuditRule(
        "AU107-histogram",
        "error",
        "The histogram log is that of the requests",
        "latency.hlog, written again from requests.parquet, is the same byte for byte.",
        MEASURE,
    ),
    AuditRule(
        "AU108-missing-trial",
        "error",
        "No replicate is missing",
        "Every treatment of a design has a trial in every block, and trials that shared one "
        "start of the stack are numbered without a gap. A failed trial counts: it is a bundle, "
        "too. Left-overs that no page cites, such as those of an interrupted run with older "
        "sources, are warnings.",
        "Get the missing bundle, or run the chapter: what is missing is measured.",
    ),
    AuditRule(
        "AU109-same-trial",
        "error",
        "No trial counts twice",
        "Two bundles with the same record, with the same key and the same start, or with the "
        "same requests or histograms are one trial under two names: together they would pass for "
        "two replicates.",
        "Remove the copy.",
    ),
    AuditRule(
        "AU110-measured-again",
        "warning",
        "No completed trial was measured again",
        "Sizebook measures a completed trial again only where the machine interfered (its verdict "
        "says so); else somebody chose. The newest counts, and what each found is stated.",
        "Compare the values. If the first was not noisy, ask why it was measured again.",
    ),
    AuditRule(
        "AU111-blocks",
        "warning",
        "A design has the blocks of its profile",
        "Fewer blocks than the profile prescribes: the design stopped when it was precise enough, "
        "or its last blocks were taken out. Replaying a page tells which.",
        "Audit the page that was made from these bundles, or ask for the rest.",
    ),
    AuditRule(
        "AU112-stale",
        "warning",
        "Trials were measured with the present sources, on this machine",
        "Stack, load profile, capture, JVM or machine differ from those here and now: what the "
        "bundles show is what they were then.",
        "Nothing, for bundles from elsewhere; else run the chapter again.",
    ),
    AuditRule(
        "AU113-times",
        "error",
        "Times agree with each other",
        "The bundle's name has the trial's start and key, the session began before it, phases "
        "follow each other without a gap and last as long as specified, to the nanosecond, and the "
        "generator's seconds are theirs.",
        MEASURE,
    ),
    AuditRule(
        "AU114-facts",
        "error",
        "What the generator says follows from what was recorded",
        "Lag and CPU time against the generator's counters of each second, its CPU time against "
        "that of each worker, counts against each other, late starts against the requests, the "
        "schedule against arrivals and seed. Published trials have no requests and few a schedule: "
        "of these, counters and counts are compared.",
        MEASURE,
    ),
    AuditRule(
        "AU115-commands",
        "error",
        "What was run is what was to be deployed",
        "Every node of the deployment has its command and no other was run, JVMs have the heap and "
        "flags of their role, and versions of generator and harness are ones that can be: the "
        "same in both places, and none newer than this one.",
        MEASURE,
    ),
    AuditRule(
        "AU116-outcome",
        "error",
        "A trial ended as its record says",
        "A failed trial is in no result: calling one failed hides it. Its record has a reason and "
        "shows no trial that came to its end; one that completed has none and came to its end: its "
        "clocks were read a second time. A load measured to its end fails only with a process that "
        "ended, a lost host, a disturbance, or a database that was to say what is stored.",
        MEASURE,
    ),
)
