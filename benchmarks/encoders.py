"""How fast are texts encoded? Run: python benchmarks/encoders.py [ENCODER]."""

import os
import sys
import time
from itertools import chain
from pathlib import Path

from whycite.documents import stream
from whycite.encoders import DEFAULT, load
from whycite.encoders.registry import Encoder

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


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
    encoder = load(name, threads=1)
    encoder.encode(["text"])
    return time.perf_counter() - start, encoder


def main() -> None:
    if not DATA.is_dir():
        sys.exit("no real data at hand: set WHYCITE_DATA to its folder")
    name = sys.argv[1] if len(sys.argv) > 1 else DEFAULT
    seconds, encoder = opened(name)
    print(f"{encoder.name}: first vector after {seconds:.2f} s")
    print(f"{'texts':<12}{'number':>8}{'threads':>9}{'texts/s':>10}{'texts a second of processor time':>34}")
    for size, chosen in texts().items():
        for threads in (1, 2):
            encoder = load(name, threads=threads)
            encoder.encode(chosen[:50])  # memory is taken once
            clock, processor = time.perf_counter(), time.process_time()
            encoder.encode(chosen)
            clock, processor = time.perf_counter() - clock, time.process_time() - processor
            speeds = f"{len(chosen) / clock:>10,.0f}{len(chosen) / processor:>34,.0f}"
            print(f"{size:<12}{len(chosen):>8,}{threads:>9}{speeds}")


if __name__ == "__main__":
    main()
