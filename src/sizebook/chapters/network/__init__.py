"""The link between tiers: what it carries, and what it costs."""
