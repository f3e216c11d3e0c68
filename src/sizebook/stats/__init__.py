"""Floor 1: arrays in, numbers out. Imports nothing of the project but the model."""
