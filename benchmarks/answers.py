"""Do two versions give the same answers? Run: python benchmarks/answers.py record FILE, later compare BEFORE AFTER.

`record` asks the installed `whycite` for the papers of 200 claims (library: 300 eLife articles; claims of 100 others),
the findings of 20 drafts and 40 verdicts, and writes what it answers as JSON. `compare` counts the answers that differ;
the sentences that explain an answer (reasons, warnings, quoted evidence) may be reworded, and the last digits of
numbers may vary.
A library made by the version before can be asked instead of a new one: --library PATH. `cost LIBRARY` prints the
processor time and memory of whole commands; run it with the interpreter of either version.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import zstandard

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
REWORDED = ("reason", "warnings", "sentence")
ARTICLES, CLAIMS, DRAFTS, PAPERS = 300, 200, 20, 20


def whycite(*arguments: str, text: str = "") -> str:
    """What a command prints; findings are no failure."""
    command = [sys.executable, "-m", "whycite", *arguments]
    finished = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return finished.stdout if finished.returncode in (0, 1) else json.dumps(f"exit {finished.returncode}")


def articles() -> Iterator[str]:
    with zstandard.open(DATA / "elife" / "elife-00.jsonl.zst", "rt", encoding="utf-8") as file:
        yield from file


def claims() -> Iterator[str]:
    """The first sentences of paragraphs that cite, of articles that are not in the library."""
    for line in islice(articles(), ARTICLES, ARTICLES + 100):
        for paragraph in json.loads(line)["body_text"][:8]:
            sentence = paragraph["text"].partition(". ")[0]
            if paragraph["cite_spans"] and len(sentence) > 40:
                yield sentence


def cite(library: str) -> dict[str, Any]:
    questions = [json.dumps({"id": str(k), "text": claim}) for k, claim in enumerate(islice(claims(), CLAIMS))]
    answers = whycite("cite", "--batch", "-", "--library", library, text="\n".join(questions))
    return {f"cite {k}": answer for k, answer in enumerate(map(json.loads, answers.splitlines()))}


def check(library: str) -> dict[str, Any]:
    drafts = sorted(path.parent for path in (DATA / "drafts").glob("*/meta.json"))[::3][:DRAFTS]
    return {f"check {path.name}": whycite("check", str(path), "--json", "--library", library) for path in drafts}


def verify() -> dict[str, Any]:
    papers = [*sorted((DATA / "jats-raw").glob("*.gz"))[:10], *sorted((DATA / "pdf").glob("*.pdf"))][:PAPERS]
    with zstandard.open(DATA / "scifact" / "claims_train.jsonl.zst", "rt", encoding="utf-8") as file:
        strange = [json.loads(line)["claim"] for line in file]
    answers = {}
    for k, paper in enumerate(papers):
        title = json.loads(whycite("read", str(paper), "--json"))["title"]
        for claim in (title, strange[k]):
            answers[f"verify {paper.name}: {claim}"] = whycite("verify", str(paper), "--claim", claim, "--json")
    return answers


def record(file: Path, library: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHYCITE_CACHE"] = str(Path(folder, "cache"))
        if library is None:
            library = str(Path(folder, "library"))
            corpus = Path(folder, "articles.jsonl")
            corpus.write_text("".join(islice(articles(), ARTICLES)), encoding="utf-8")
            whycite("add", str(corpus), "--library", library)
        answers = {**cite(library), **check(library), **verify()}
    file.write_text(json.dumps(answers, indent=1), encoding="utf-8")
    print(f"{len(answers)} answers written to {file}")


def essence(answer: Any) -> Any:
    """What must be the same of an answer."""
    if isinstance(answer, dict):
        return {key: essence(value) for key, value in answer.items() if key not in REWORDED}
    if isinstance(answer, list):
        return [essence(value) for value in answer]
    return round(answer, 9) if isinstance(answer, float) else answer


def load(path: Path) -> dict[str, Any]:
    """Recorded answers by question; those of whole commands are parsed."""
    answers = json.loads(path.read_text(encoding="utf-8"))
    parsed = {name: json.loads(answer) if isinstance(answer, str) else answer for name, answer in answers.items()}
    return {name: essence(answer) for name, answer in parsed.items()}


def compare(before: Path, after: Path) -> int:
    """The number of answers that differ."""
    old, new = load(before), load(after)
    different = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    print(f"{len(old)} answers before, {len(new)} after, {len(different)} differ")
    for name in different[:20]:
        print(f"  {name}")
    return len(different)


def cost(library: str) -> None:
    """Print the processor time and peak memory of whole commands."""
    draft, paper = str(DATA / "drafts" / "bayes-vis"), str(DATA / "pdf" / "J13-1008.pdf")
    claim = "Statistical parsing of morphologically rich languages benefits from gold tags."
    questions = "\n".join(json.dumps({"id": k, "text": claim}) for k, claim in enumerate(islice(claims(), 100)))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHYCITE_CACHE"] = folder
        articles_file = str(DATA / "elife" / "elife-tiny.jsonl.zst")
        commands = {
            "--help": ["--help"],
            "cite --batch, 100 claims": ["cite", "--batch", "-", "--library", library],
            "check, cold": ["check", draft, "--json", "--library", library],
            "check, again": ["check", draft, "--json", "--library", library],
            "verify --claim, PDF": ["verify", "--claim", claim, paper, "--json"],
            "add, 60 articles": ["add", articles_file, "--library", str(Path(folder, "library"))],
        }
        for name, arguments in commands.items():
            seconds, mebibytes = measure(arguments, questions if "--batch" in arguments else "")
            print(f"{name:<26}{seconds:>8.2f} s{mebibytes:>8.0f} MiB", flush=True)


def measure(arguments: list[str], text: str) -> tuple[float, float]:
    """Processor seconds and peak memory in MiB of a command and its own processes."""
    command = [sys.executable, "-m", "whycite", *arguments]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, text=True)
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    recording = commands.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--library")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    costing = commands.add_parser("cost")
    costing.add_argument("library")
    options = parser.parse_args()
    if options.command == "record":
        record(options.file, options.library)
    elif options.command == "cost":
        cost(options.library)
    else:
        sys.exit(min(compare(options.before, options.after), 1))
