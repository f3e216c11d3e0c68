"""The sampler's notes in a bundle, read back."""

from __future__ import annotations

from pydantic import ValidationError

from sizebook.model.errors import BundleError
from sizebook.model.notes import NOTES, ProbeNotes
from sizebook.store.bundles import Bundle, verify_file


def read_notes(bundle: Bundle) -> ProbeNotes | None:
    """Return what the sampler noted; None for a bundle without (nothing was missing, or it is old).

    Raises BundleError for a damaged file.
    """
    if NOTES not in bundle.record.files:
        return None
    verify_file(bundle, NOTES)
    try:
        return ProbeNotes.model_validate_json((bundle.path / NOTES).read_text())
    except (ValidationError, UnicodeDecodeError) as error:
        raise BundleError(
            found=f"bundle {bundle.id} with a {NOTES} that is not understood",
            expected="the notes of this release's sampler",
            next_step="use the release of Sizebook that wrote it, or measure again",
        ) from error
