"""Every rule of the audit: what it compares, how bad it is, what to do."""

from __future__ import annotations

from dataclasses import asdict

from sizebook.book.audit.agreement_rules import AGREEMENT_RULES
from sizebook.book.audit.bundle_rules import BUNDLE_RULES
from sizebook.book.audit.page_rules import PAGE_RULES
from sizebook.book.audit.rule import BUILD, SEVERITIES, AuditRule, Severity
from sizebook.book.crate.rules import CRATE_RULES

__all__ = ["RULES", "SEVERITIES", "AuditRule", "Severity", "get_rule"]

RULES: tuple[AuditRule, ...] = (
    *BUNDLE_RULES,
    *PAGE_RULES,
    AuditRule(
        "AU401-page-differs",
        "error",
        "The site is what the notebooks make",
        "Built again, every file of the site is the same, byte for byte; of trials' pages the "
        "stamp may differ.",
        BUILD,
    ),
    AuditRule(
        "AU402-page-missing",
        "error",
        "No file of the site is missing",
        "A file that the build makes is not in the site.",
        BUILD,
    ),
    AuditRule(
        "AU403-page-added",
        "error",
        "No file was added to the site",
        "A file in the site is none that the build makes.",
        BUILD,
    ),
    AuditRule(
        "AU404-no-build",
        "error",
        "The site can be built again",
        "The build ended with warnings or an error, so that the site could not be compared.",
        "See the message; sizebook build does the same.",
    ),
    AuditRule(
        "AU405-not-built",
        "note",
        "There is a site",
        "The site is not built, so that there is nothing to compare.",
        BUILD,
    ),
    AuditRule(
        "AU501-reported",
        "error",
        "The reports' data are unchanged",
        "Every file in data/reported has its checksum in SHA256SUMS there, and none is missing.",
        "git checkout data/reported; after a wanted change: sha256sum *.csv > SHA256SUMS there.",
    ),
    AuditRule(
        "AU502-claim-unknown",
        "error",
        "Claims are claims of the reports",
        "Every claim that a page decides is one of data/reported/claims.csv, or one that the "
        "chapter makes itself (own-…), and is decided once.",
        "Correct the claim's id in the template and run the chapter again.",
    ),
    AuditRule(
        "AU503-claim-late",
        "warning",
        "The book's own claims were made before their trials",
        "data/claims/own.csv says when each own-… claim was written down; the ids of bundles say "
        "when trials began. The ledger shows a late claim as such, without a verdict.",
        "Measure anew: a run writes the claims of its notebook down before its trials. "
        "git log -S OWN-ID -- data/claims notebooks shows when the line was added.",
    ),
    *(AuditRule(**asdict(rule)) for rule in CRATE_RULES),
    AuditRule(
        "AU701-pack",
        "error",
        "Every pack of a round is the one that was published",
        "round.json can be read, and each pack that it names is there with its bytes and SHA-256. "
        "What such a round holds is not looked at.",
        "Get a fresh copy of the book: git checkout data/published.",
    ),
    AuditRule(
        "AU702-signature",
        "error",
        "A round's signature is good",
        "ssh-keygen verifies the signature of round.json, which has the checksums of all packs. A "
        "round without a signature, or a machine without ssh-keygen, is a note.",
        "A bad one: get a fresh copy of the book. None: ask the publisher, or believe the bundles.",
    ),
    AuditRule(
        "AU703-size",
        "error",
        "What is published stays small",
        "All files in data/published together have at most 20 000 000 bytes.",
        "Take an old round out: git rm -r data/published/ROUND.",
    ),
    AuditRule(
        "AU704-private",
        "error",
        "Nothing published is private",
        "No file of a pack has the home folder, user or host name of this machine, a place on "
        "any, an address of mail or of a machine in the internet, a key, or a secret of the "
        "environment in it.",
        "Take it out where it comes from, run the chapter again and publish it again.",
    ),
    AuditRule(
        "AU705-replicates",
        "warning",
        "Published chapters have three replicates",
        "The publisher took fewer (--replicates): intervals are wide, or there are none.",
        "Measure more and publish again.",
    ),
    AuditRule(
        "AU706-renamed",
        "error",
        "A round's folder has the round's name",
        "Which round is the newest is told by the name and the times in round.json. A folder with "
        "another name is somebody's work after the publisher's.",
        "Get a fresh copy of the book: git checkout data/published.",
    ),
    AuditRule(
        "AU707-index",
        "error",
        "round.json says what its packs hold",
        "Machine, stack, JVM, harness, dates, number of trials and replicates, profile, what was "
        "left out and the page's commit, each as the pack's trials and page say it.",
        "Get a fresh copy of the book: git checkout data/published.",
    ),
    *AGREEMENT_RULES,
)

_BY_ID = {rule.id: rule for rule in RULES}


def get_rule(rule_id: str) -> AuditRule:
    """Return a rule by its id; KeyError for an unknown one."""
    return _BY_ID[rule_id]
