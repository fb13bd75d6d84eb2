"""Encoders: texts to unit vectors, so that texts that mean the like lie close together."""

from whycite.encoders.registry import DEFAULT, Encoder, bundled, load

__all__ = ["DEFAULT", "Encoder", "bundled", "load"]
