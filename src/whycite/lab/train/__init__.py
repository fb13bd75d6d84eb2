"""Training: from a base model and examples to an encoder or a classifier of one's own."""
