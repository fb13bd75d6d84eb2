"""Encoders: texts to unit vectors, so that texts that mean the like lie close together."""

from whycite.models.encoders import DEFAULT, Encoder, bundled_encoders, load_encoder

__all__ = ["DEFAULT", "Encoder", "bundled_encoders", "load_encoder"]
