"""Floor 1: where things are, bundles on disk, checksums, fingerprints, the measurement lock.

Names are loaded when first used: bundles bring frames, which most commands do without.
"""

from typing import TYPE_CHECKING

from sizebook.model.later import later

if TYPE_CHECKING:
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

__getattr__ = later(
    __name__,
    {
        "Bundle": "bundles",
        "BundleWriter": "writing",
        "Project": "project",
        "cache_key": "fingerprints",
        "find_bundles": "bundles",
        "find_project": "project",
        "fingerprint_files": "fingerprints",
        "fingerprint_text": "fingerprints",
        "measurement_lock": "lock",
        "open_bundle": "bundles",
    },
)
