"""Floor 1: where things are, bundles on disk, checksums, fingerprints, the measurement lock."""

from sizebook.store.bundles import Bundle, find_bundles, open_bundle
from sizebook.store.fingerprints import cache_key, fingerprint_files, fingerprint_text
from sizebook.store.lock import measurement_lock
from sizebook.store.project import Project, find_project
from sizebook.store.writing import BundleWriter

__all__ = [
    "Bundle",
    "BundleWriter",
    "Project",
    "cache_key",
    "find_bundles",
    "find_project",
    "fingerprint_files",
    "fingerprint_text",
    "measurement_lock",
    "open_bundle",
]
