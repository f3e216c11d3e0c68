"""Guests, weighted and pinned: the rules they are put under, and what these do."""
