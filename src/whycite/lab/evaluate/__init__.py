"""How good recommendations are, and whether a difference is more than chance."""
