"""SCOPE's methods and experiments: worthiness, prefetching and reranking."""
