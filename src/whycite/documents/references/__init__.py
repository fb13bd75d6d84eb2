"""Bibliographies in every format, and printed references."""
