"""Run roc-validator on crates with no way out of the machine; print its verdicts as JSON.

Runs in the validator's own environment (``env/validator.lock``): it needs another Rich than the
harness. Usage: ``python validate_crate.py SEVERITY CRATE PROFILE [CRATE PROFILE]...``; SEVERITY is
REQUIRED, RECOMMENDED or OPTIONAL. Whatever tries to connect anywhere ends the run with an error.
"""

from __future__ import annotations

import importlib.resources
import io
import json
import sys
import tempfile
from pathlib import Path

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


def stay_inside(event: str, arguments: tuple[object, ...]) -> None:
    """End the run when it asks for an address or a connection: an audit hook of Python."""
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"the validator wants to leave the machine: {event} {arguments[-1]!r}")


def fill_cache(path: Path) -> None:
    """Put the JSON-LD context into the validator's cache, from the package that ships it."""
    from requests.adapters import HTTPAdapter
    from requests_cache import CachedSession
    from urllib3 import HTTPResponse

    context = importlib.resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
    assert json.loads(context)["@id"] == CONTEXT

    class Shipped(HTTPAdapter):
        """Answers instead of the network."""

        def send(self, request, **_):
            kind = {"Content-Type": "application/ld+json"}
            raw = HTTPResponse(io.BytesIO(context), kind, status=200, preload_content=False)
            return self.build_response(request, raw)

    with CachedSession(str(path), backend="sqlite", expire_after=-1) as session:
        session.mount("https://", Shipped())
        session.get(CONTEXT).raise_for_status()


def validate(crate: Path, severity: str, profile: str, cache: Path) -> dict[str, object]:
    """Return whether the crate passes one profile, and each issue as ``severity check: text``."""
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings

    settings = ValidationSettings(
        rocrate_uri=str(crate),
        profile_identifier=profile,
        requirement_severity=Severity[severity],
        abort_on_first=False,
        offline=True,
        cache_path=cache,
    )
    result = services.validate(settings)
    issues = [
        f"{each.severity.name} {each.check.identifier} {each.violatingEntity}: {each.message}"
        for each in result.get_issues(Severity[severity])
    ]
    return {"passed": result.passed(Severity[severity]), "issues": issues}


def main() -> None:
    """Print the verdict on every pair."""
    severity, *words = sys.argv[1:]
    sys.addaudithook(stay_inside)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "http"
        fill_cache(cache)
        pairs = zip(words[::2], words[1::2], strict=True)
        verdicts = [validate(Path(crate), severity, profile, cache) for crate, profile in pairs]
    print(json.dumps(verdicts, indent=1))


if __name__ == "__main__":
    main()
