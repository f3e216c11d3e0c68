"""What ``pyproject.toml`` cannot say: a build brings documents and lock files into the package.

They stay where readers of the repository look for them, so there is one source of each.
"""

import json
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = Path("src/sizebook/book/shipped.json")


class BuildWithDocuments(build_py):
    """Copies what ``shipped.json`` names into ``sizebook/shipped/``."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "sizebook" / "shipped"
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in json.loads(SHIPPED.read_text(encoding="utf-8")).items():
            shutil.copyfile(source, folder / name)


setup(cmdclass={"build_py": BuildWithDocuments})
