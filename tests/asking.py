"""To ask again for a trial that a busy machine spoilt."""

import warnings


def asked_again(trial, is_fit, reason, tries=5):
    """Return what the first trial gives that is fit to be judged; each other is told of.

    ``is_fit`` says whether the machine let happen what the test is about, and nothing of whether it
    went well. Fails with the ``reason`` if it never did.
    """
    for number in range(1, tries + 1):
        found = trial()
        if is_fit(found):
            return found
        warnings.warn(f"asked again ({number} of {tries}): {reason}", stacklevel=2)
    raise AssertionError(f"{reason}, {tries} times")
