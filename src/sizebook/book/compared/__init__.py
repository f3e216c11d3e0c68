"""Two runs beside each other, own results beside published ones, and who repeated them."""
