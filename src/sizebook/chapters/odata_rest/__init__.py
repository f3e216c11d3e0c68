"""OData against plain REST: representations of the same rows, and what a run of each takes."""
