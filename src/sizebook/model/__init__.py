"""Floor 0: frozen types with units, the metric registry, errors. Imports nothing of the project."""
