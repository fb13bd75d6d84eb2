"""Passages that back a claim, after the thesis "Why did they cite that?": datasets, models, measures, verdicts."""

from __future__ import annotations
