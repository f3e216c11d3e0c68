"""A run as a Workflow Run RO-Crate: what belongs to it, its description, the crate, its audit."""
