"""What runs inside of a host: not imported by the harness, but found at the same paths there."""

from pathlib import Path

AGENT = Path(__file__).resolve().with_name("agent.py")
"""The agent's main file."""
AGENT_FILES = (AGENT, AGENT.with_name("files.py"), AGENT.with_name("senses.py"))
"""All that it needs beside the standard library, in one folder."""
KEEPER_FILES = tuple(
    AGENT.with_name(f"{name}.py") for name in ("files", "senses", "groups", "spaces", "keeper")
)
"""What runs on another machine beside the agent, each after those that it uses."""
MORTAL = AGENT.with_name("mortal.py")
"""Becomes a command that ends with the process that started it."""
