"""Does a sentence need a citation? Examples to learn from, input variants, baselines (SCOPE 3.2)."""
