"""Floor 6: the command line, one thin module a command."""

from sizebook.cli.main import main

__all__ = ["main"]
