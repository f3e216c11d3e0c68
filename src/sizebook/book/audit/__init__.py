"""The audit: everything that the book shows, recomputed from bundles and compared."""
