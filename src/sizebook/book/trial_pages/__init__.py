"""A page for each trial behind a published result: its folder, its panels, its words."""
