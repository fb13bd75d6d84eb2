"""The figures of a training: SCOPE's table 3 and what it lacks, on held-out documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.evaluation.worthiness import KINDS, best_threshold, measure, reliability, thresholds_by_type
from whycite.worthiness.calibration import Calibration, fit

__all__ = ["Judged", "report"]


@dataclass(frozen=True, slots=True)
class Judged:
    """Sentences with scores and labels, the kinds of their paragraphs, and the types of their sections."""

    scores: NDArray[np.float32]
    worthy: NDArray[np.bool_]
    kinds: NDArray[np.object_]
    types: tuple[str | None, ...]

    def best(self, calibration: Calibration | None = None) -> tuple[float, float]:
        """The best threshold on these sentences themselves, and F1 there."""
        probabilities = (calibration or Calibration()).probabilities(self.scores)
        threshold = best_threshold(self.worthy, probabilities)
        return threshold, measure(self.worthy, probabilities >= threshold).f1


def report(dev: Judged, test: Judged) -> dict[str, Any]:
    """Calibration and thresholds as dev has them, and what they are worth on test."""
    calibration = fit(dev.scores, dev.worthy)
    on_dev, on_test = calibration.probabilities(dev.scores), calibration.probabilities(test.scores)
    thresholds = thresholds_by_type(dev.worthy, on_dev, dev.types)
    threshold = thresholds[""]
    own = np.array([thresholds.get(type or "", threshold) for type in test.types])
    rows = {"all": np.full(len(test.worthy), True)} | {name: test.kinds == at for at, name in enumerate(KINDS)}
    bins = reliability(test.worthy, on_test)
    return {
        "calibration": asdict(calibration),
        "thresholds": thresholds,
        "dev": asdict(measure(dev.worthy, on_dev >= threshold)),
        "test": {
            name: {
                "sentences": int(mask.sum()),
                "share": float(test.worthy[mask].mean()) if mask.any() else 0.0,
                **asdict(measure(test.worthy[mask], on_test[mask] >= threshold)),
            }
            for name, mask in rows.items()
        },
        "test_by_type": asdict(measure(test.worthy, on_test >= own)),
        "test_best": test.best(calibration),
        "reliability": [asdict(each) for each in bins],
        "calibration_error": sum(each.number * abs(each.expected - each.worthy) for each in bins) / len(test.worthy),
    }
