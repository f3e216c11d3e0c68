"""The book within a given time: what decides most per minute is measured first."""
