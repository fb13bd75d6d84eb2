"""Which papers a claim should cite, with the evidence for each."""
