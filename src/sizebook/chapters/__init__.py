"""Floor 5: a room a chapter, with what only that chapter has: deployments, measures, charts.

The harness below names no chapter. What two chapters use is harness, and leaves this floor.
"""
