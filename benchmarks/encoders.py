"""How fast are texts encoded? Run: python benchmarks/encoders.py [ENCODER...].

Several encoders take turns over the same texts, so that whatever else the machine does slows all of them alike; what
counts is the ratio to the first one.
"""

import os
import sys
import time
from itertools import chain
from pathlib import Path

import numpy as np

from whycite.documents import stream
from whycite.models import DEFAULT, load_encoder
from whycite.models.encoders import Encoder

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TURNS = 5


def texts() -> dict[str, list[str]]:
    """Texts of three sizes, all different."""
    papers = list(stream(DATA / "elife" / "elife-tiny.jsonl.zst"))
    citing = [sentence.text.split() for paper in papers for sentence in paper.sentences if sentence.citations]
    sentences = [words[:25] for words in citing if len(words) >= 25]
    paragraphs = [" ".join(chain.from_iterable(citing[at : at + 6])) for at in range(0, 600, 6)]
    return {
        "4 words": list(dict.fromkeys(" ".join(words[:4]) for words in sentences))[:2000],
        "25 words": list(dict.fromkeys(" ".join(words) for words in sentences))[:1000],
        "200 words": [" ".join(text.split()[:200]) for text in paragraphs],
    }


def opened(name: str) -> tuple[float, Encoder]:
    """Seconds from nothing to the first vector, and the encoder."""
    start = time.perf_counter()
    encoder = load_encoder(name, threads=1)
    encoder.encode(["text"])
    return time.perf_counter() - start, encoder


def timed(encoder: Encoder, chosen: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    encoder.encode(chosen)
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    names = sys.argv[1:] or [DEFAULT]
    for name in names:
        seconds, encoder = opened(name)
        print(f"{encoder.name}: first vector after {seconds:.2f} s")
    print(f"{'texts':<10}{'number':>7}{'threads':>8}  {'encoder':<26}{'texts/s':>9}{'a CPU second':>13}{'ratio':>7}")
    for size, chosen in texts().items():
        for threads in (1, 2):
            encoders = [load_encoder(name, threads=threads) for name in names]
            for encoder in encoders:
                encoder.encode(chosen[:50])  # memory is taken once
            taken = np.array([[timed(encoder, chosen) for encoder in encoders] for _ in range(TURNS)])
            clock, processor = np.median(taken, axis=0).T
            ratios = np.median(taken[:, :1, 1] / taken[:, :, 1], axis=0)  # turn by turn
            for at, encoder in enumerate(encoders):
                speeds = f"{len(chosen) / clock[at]:>9,.0f}{len(chosen) / processor[at]:>13,.0f}{ratios[at]:>7.2f}"
                print(f"{size:<10}{len(chosen):>7,}{threads:>8}  {encoder.name:<26}{speeds}", flush=True)


if __name__ == "__main__":
    main()
