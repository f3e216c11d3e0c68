"""When a node of several is lost: failed requests by reason, the balancer as second witness."""
