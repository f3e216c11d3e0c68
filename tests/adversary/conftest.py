"""What the tests of attacks share: the audit's small book."""

from audited_fixtures import *  # noqa: F403 - pytest finds fixtures by their names
