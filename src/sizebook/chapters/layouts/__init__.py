"""Room of the chapter on layouts: nodes that share a heap."""
