"""The models: encoder and ranker, the loader of model folders, and the cache of results (see README.md)."""

from whycite.models.encoders import DEFAULT, Encoder, bundled_encoders, load_encoder

__all__ = ["DEFAULT", "Encoder", "bundled_encoders", "load_encoder"]
