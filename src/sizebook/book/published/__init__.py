"""Published rounds: own runs packed, checked and signed; and pages that are taken from them."""
