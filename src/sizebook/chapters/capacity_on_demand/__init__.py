"""Hosts that are resized under load: what became of the requests."""
