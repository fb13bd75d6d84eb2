"""Bibliographies of every kind, and references as they are printed."""
