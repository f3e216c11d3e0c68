"""Heaps and collectors: the least heap, what the log advises, what happens when memory ends."""
