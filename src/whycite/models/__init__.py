"""The models (encoder, entailment model, ranker), the loader of model folders, and the cache of results."""

from whycite.models.encoders import DEFAULT, Encoder, bundled_encoders, load_encoder

__all__ = ["DEFAULT", "Encoder", "bundled_encoders", "load_encoder"]
