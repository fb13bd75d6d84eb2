"""Training: turn a base model and examples into an encoder or a classifier."""
