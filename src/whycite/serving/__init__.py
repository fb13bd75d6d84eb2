"""What every page that whycite serves shares: who may ask, how much at once, errors in one sentence."""
