"""Which sentences of the cited paper back a claim: data sets, measures and baselines (the thesis, chapters 4 and 7)."""
