"""Load generation inside and around Locust.

Two sides that never share a process: ``workers``, ``control`` and ``collect`` belong to the lab and
import neither Locust nor gevent (which would monkey-patch the lab); ``generator`` and what it needs
(``course``, ``users``, ``http``, ``recorder``, ``clock``) live in the generator's own processes.
``protocol`` and ``schedule`` are shared. The README beside this file tells how load is made.
"""
