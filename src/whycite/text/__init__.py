"""Text without documents: sentences, tokens, normalisation."""
