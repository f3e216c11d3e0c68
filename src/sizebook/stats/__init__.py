"""Floor 1: arrays in, numbers out. Imports nothing of the project but the model.

Parts of scipy are named whole where they are used (``scipy.special.ndtri``): scipy then loads them
when they are first asked for, and who asks for none does not wait for them.
"""
