"""How good recommendations are, and whether differences are significant."""
