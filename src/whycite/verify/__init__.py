"""Whether a cited paper backs a claim, and where it says so."""
