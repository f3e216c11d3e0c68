"""Floor 6: papermill runs, the site build, audit, compare, publish."""
