"""Training in three steps: `prepare` where whycite is installed, `train` and `pick` where torch is."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from whycite.errors import MissingExtra, UserError
from whycite.evaluation.worthiness import by_date
from whycite.training.worthiness import Recipe, train
from whycite.training.worthiness.network import save_weights
from whycite.worthiness.pack import load

_REPORT, _SCORES = "report.json", "scores.npz"


def main(arguments: list[str] | None = None) -> int:
    """Pack examples, train by one recipe, or pick the best of several trainings."""
    parser = argparse.ArgumentParser(prog="python -m whycite.training.worthiness")
    commands = parser.add_subparsers(required=True)
    pack = commands.add_parser("prepare")
    pack.add_argument("path", type=Path, nargs="+", help="papers to learn from: files, folders, archives")
    pack.add_argument("--out", type=Path, required=True)
    pack.add_argument("--most", type=float, default=1e6, help="megabytes of the pack")
    pack.set_defaults(run=_prepare)
    own = commands.add_parser("train")
    own.add_argument("pack", type=Path, nargs="+")
    own.add_argument("--out", type=Path, required=True)
    own.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="what the recipe should have otherwise")
    own.add_argument("--documents", type=int, help="train on so many of the newest")
    own.add_argument("--dev", type=int, default=100, help="documents held out to choose by")
    own.add_argument("--test", type=int, default=200, help="documents held out to measure on")
    own.add_argument("--workers", type=int, default=0)
    own.add_argument("--deadline", type=float, default=float("inf"), help="seconds after which the training is over")
    own.set_defaults(run=_train)
    best = commands.add_parser("pick")
    best.add_argument("folders", type=Path, nargs="+")
    best.add_argument("--out", type=Path, required=True)
    best.set_defaults(run=_pick)
    chosen = parser.parse_args(arguments)
    try:
        chosen.run(chosen)
    except (UserError, MissingExtra) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _prepare(chosen: argparse.Namespace) -> None:
    from whycite.training.worthiness.preparing import prepare

    written = prepare(chosen.path, chosen.out, int(chosen.most * 1e6))
    print(f"{written} documents in {chosen.out}")


def _train(chosen: argparse.Namespace) -> None:
    recipe = _recipe(chosen.set)
    split = by_date(chain.from_iterable(load(path) for path in chosen.pack), chosen.dev, chosen.test)
    documents = split.train[-chosen.documents :] if chosen.documents else split.train
    name = chosen.out.name

    def watch(word: str) -> None:
        print(f"{name}: {word}", flush=True)

    outcome = train(documents, split.dev, split.test, recipe, watch, chosen.workers, chosen.deadline)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / _REPORT).write_text(json.dumps({**outcome.report, "documents": len(documents)}, indent=1))
    np.savez_compressed(
        chosen.out / _SCORES, dev=outcome.dev.scores.astype(np.float16), test=outcome.test.scores.astype(np.float16)
    )
    save_weights(outcome.network, chosen.out)
    watch(f"test {_line(outcome.report)}")


def _recipe(values: list[str]) -> Recipe:
    kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(Recipe)}
    found: dict[str, Any] = {}
    for value in values:
        name, _, text = value.partition("=")
        if name not in kinds:
            raise UserError(f"the recipe has no '{name}'; it has: {', '.join(kinds)}")
        kind = kinds[name]
        try:
            found[name] = text == "true" if kind is bool else kind(text)
        except ValueError as error:
            raise UserError(f"'{name}' of the recipe must be of type {kind.__name__}, not '{text}'") from error
    return Recipe(**found)


def _pick(chosen: argparse.Namespace) -> None:
    """Keep all reports and scores, and the weights of the training that is best on dev."""
    reports = {
        folder: json.loads((folder / _REPORT).read_text()) for folder in chosen.folders if (folder / _REPORT).is_file()
    }
    if not reports:
        raise UserError("none of the folders holds a report of a training")
    for folder, report in sorted(reports.items(), key=lambda pair: -pair[1]["dev"]["f1"]):
        print(f"{folder.name}: dev F1 {report['dev']['f1']:.4f}; test {_line(report)}")
    best = max(reports, key=lambda folder: reports[folder]["dev"]["f1"])
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "reports.json").write_text(json.dumps({folder.name: report for folder, report in reports.items()}))
    held = {f"{folder.name}.{part}": values for folder in reports for part, values in np.load(folder / _SCORES).items()}
    np.savez_compressed(chosen.out / _SCORES, **held)
    for path in best.glob("weights-*.npz"):
        shutil.copy(path, chosen.out / path.name)
    print(f"the weights are those of {best.name}")


def _line(report: dict[str, Any]) -> str:
    own = report["test"]["all"]
    kinds = ", ".join(f"{name} {values['f1']:.4f}" for name, values in report["test"].items() if name != "all")
    return (
        f"P {own['precision']:.4f} R {own['recall']:.4f} F1 {own['f1']:.4f} ({kinds}; by type "
        f"{report['test_by_type']['f1']:.4f}, best {report['test_best'][1]:.4f}); {report['seconds']:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
