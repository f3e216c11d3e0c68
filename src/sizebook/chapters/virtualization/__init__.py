"""How much slower each kind of work is in each mode."""
