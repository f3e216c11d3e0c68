"""Floor 4: what a system was really asked: rates over time, out of a log or of Prometheus."""
