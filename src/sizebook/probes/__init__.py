"""Floor 2: one class a counter source, and the threads that ask them."""

from sizebook.probes.base import Probe, Reading, Sample, Unavailable
from sizebook.probes.sampler import Sampler

__all__ = ["Probe", "Reading", "Sample", "Sampler", "Unavailable"]
