"""Disks of hosts: what a node writes and reads there, and who answers for the disk."""
