"""Why did they cite that?": which sentences of the cited paper back a claim; data sets, models, measures, verdicts."""

from __future__ import annotations
