"""The installed package packed into a wheel again, so that a book brings its harness along.

No index is known to have this package. With the wheel in its folder a book can be built anywhere.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from importlib.metadata import distribution
from pathlib import Path

_LEFT_OUT = frozenset(("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json"))
"""Files of an installation that say how and from where, and are no part of a wheel."""
_DATE = (1980, 1, 1, 0, 0, 0)


def pack_wheel(folder: Path) -> Path | None:
    """Write the wheel of the installed package into a folder and return its path.

    None where the package is not a copy of a wheel, but a link to a checkout.
    """
    found = distribution("sizebook")
    files = [file for file in found.files or () if ".." not in file.parts]
    if not any(file.as_posix() == "sizebook/__init__.py" for file in files):
        return None
    info = next(file.parts[0] for file in files if file.name == "METADATA")
    record, rows = f"{info}/RECORD", []
    name = f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in sorted(files, key=lambda one: one.as_posix()):
            made_here = file.parts[0] == info and file.name in _LEFT_OUT
            if made_here or file.suffix == ".pyc":
                continue
            data = Path(str(file.locate())).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append((file.as_posix(), f"sha256={digest}", len(data)))
            wheel.writestr(zipfile.ZipInfo(file.as_posix(), _DATE), data, zipfile.ZIP_DEFLATED)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
        wheel.writestr(zipfile.ZipInfo(record, _DATE), text.getvalue(), zipfile.ZIP_DEFLATED)
    return folder / name
