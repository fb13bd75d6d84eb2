"""Recommenders of candidates that are trained."""
