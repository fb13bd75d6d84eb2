"""The models: encoder, ranker, the one loader of their folders, the one cache of what they computed (see README.md)."""

from whycite.models.encoders import DEFAULT, Encoder, bundled_encoders, load_encoder

__all__ = ["DEFAULT", "Encoder", "bundled_encoders", "load_encoder"]
