"""Why a file holds no traffic that can be made a load."""

from __future__ import annotations

from sizebook.model.errors import UsageError

KNOWN = (
    "a HAR file, an access log (Common or Combined format, or JSON lines), an OpenAPI 3 document, "
    "a Postman collection (v2), a JMeter plan (.jmx), a k6 script, or a CSV with a column path or "
    "url"
)


def refused(name: str, found: str, next_step: str) -> UsageError:
    """Return the error for a file that holds ``found`` instead of traffic."""
    return UsageError(found=f"{name}: {found}", expected=KNOWN, next_step=next_step)
