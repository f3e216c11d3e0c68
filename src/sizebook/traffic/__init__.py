"""Traffic that others recorded or described, as a load of ours.

A reader for each format gives a ``Recording``. What must not be sent again is taken out
(``replayable``), values that an answer gave to a later request are found (``carried``), secrets and
personal data replaced (``private_values``), endpoints named (``endpoints``), and a locustfile with
its data written (``writing``).
"""
