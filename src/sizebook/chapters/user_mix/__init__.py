"""Users who think between pages: their pace, and what the machine did meanwhile."""
