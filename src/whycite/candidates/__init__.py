"""Which papers a whole document or section may cite: candidate pools (SCOPE 3.3)."""
