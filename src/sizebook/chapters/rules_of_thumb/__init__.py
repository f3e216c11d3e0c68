"""Rules of thumb: limits that are swept around what a rule advises."""
