"""One host, or a host a tier: how many users each serves."""
