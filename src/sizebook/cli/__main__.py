"""``python -m sizebook.cli``: the command line without its script."""

from sizebook.cli.main import main

main()
