"""The models of "Why did they cite that?" (its chapter 5): which of two sentences backs a claim more."""
