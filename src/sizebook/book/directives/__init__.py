"""What the book adds to Sphinx: directives, roles, and how notebooks' outputs are drawn."""
