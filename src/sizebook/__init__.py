"""Sizebook: a benchmark report book whose every number is measured on the reader's machine."""

__version__ = "0.1.0"
