"""Which sentences of a cited paper back a claim, and whether they do."""
