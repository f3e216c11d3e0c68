"""Whether a page agrees with itself, with other pages, and with the claims that it cites."""
