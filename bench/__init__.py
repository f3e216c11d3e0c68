"""How good the instrument is: the harness measured beside its peers, by ``make bench``."""
