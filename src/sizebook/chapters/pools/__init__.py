"""Room of the chapter on pools of threads."""
