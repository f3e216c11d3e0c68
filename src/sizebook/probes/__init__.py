"""Floor 2: one class a counter source, and the threads that ask them."""

from sizebook.probes.base import CounterSample, Probe, Reading, Unavailable
from sizebook.probes.sampler import Sampler

__all__ = ["CounterSample", "Probe", "Reading", "Sampler", "Unavailable"]
