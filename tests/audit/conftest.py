"""What the tests of the audit share."""

from audited_fixtures import *  # noqa: F403 - pytest finds fixtures by their names
