"""Labelling of claims and passages: tasks, answers, and their aggregation (the thesis, chapter 4)."""
