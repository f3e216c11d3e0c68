"""Database and application work: pieces of work over a ledger, and what they take."""
