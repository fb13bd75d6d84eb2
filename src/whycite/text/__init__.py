"""Text, whatever document it is from: sentences, tokens, normalisation, BM25, word lists."""
