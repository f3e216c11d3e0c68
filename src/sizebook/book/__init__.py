"""Floor 5: papermill runs, the site build, audit, compare, publish."""
