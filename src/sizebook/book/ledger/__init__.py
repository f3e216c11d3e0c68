"""The ledger of claims: what became of each, how many may be wrong, and how it is shown."""
