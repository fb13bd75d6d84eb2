"""How well two texts go together, read side by side: claim x paper, claim x span, claim x passage."""
