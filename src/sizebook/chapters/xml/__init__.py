"""XML transformation: ways to transform a document, and what it takes in each."""
