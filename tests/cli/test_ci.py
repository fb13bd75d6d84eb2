"""The pre-commit hook and the GitHub Action run the command as their files say."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORTHY = "Previous studies have shown that sleep deprivation impairs the memory of honeybees."
FINE = "The rest of this paper is organised as follows."
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "draft.md").write_text(f"# Introduction\n\n{WORTHY} {FINE}\n", "utf-8")
    return tmp_path


def _run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "WHYCITE_CACHE": str(folder / "cache"), **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def _hook() -> dict[str, Any]:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert isinstance(hook, dict)
    return hook


def test_the_hook_fails_on_a_sentence_that_needs_a_citation(project: Path) -> None:
    hook = _hook()
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    command = [*shlex.split(hook["entry"]), *hook["args"]]
    result = _run(command, project)
    assert result.returncode == 1, result.stderr
    assert "draft.md:3:1: needs a citation" in result.stdout
    (project / "paper" / "draft.md").write_text(f"# Introduction\n\n{FINE}\n", "utf-8")
    assert _run(command, project).returncode == 0


@pytest.mark.parametrize(
    ("file", "runs"),
    [
        *((name, True) for name in ("main.tex", "a/b.md", "p.typ", "refs.bib", "THESIS.TEX", "draft.docx", "d.odt")),
        *((name, True) for name in (".whycite.toml", "paper/.whycite.toml")),
        *((name, False) for name in ("code.py", "x.text", "pyproject.toml")),
    ],
)
def test_the_hook_runs_when_a_draft_changes(file: str, runs: bool) -> None:
    assert bool(re.search(_hook()["files"], file)) == runs


def _action() -> dict[str, Any]:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert isinstance(action, dict)
    return action


def _check_with_action(project: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action as GitHub does."""
    action = _action()
    values = {name: str(about["default"]) for name, about in action["inputs"].items()} | inputs
    step = action["runs"]["steps"][-1]
    variables = {name: _INPUT.sub(lambda match: values[match[1]], value) for name, value in step["env"].items()}
    assert "${{" not in step["run"]  # text of a pull request must not become part of a script
    return _run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], project, **variables)


def test_the_action_annotates_and_fails(project: Path) -> None:
    result = _check_with_action(project, draft="paper")
    assert result.returncode == 1, result.stderr
    assert result.stdout.startswith("::warning file=paper/draft.md,line=3")


def test_the_action_writes_sarif_and_need_not_fail(project: Path) -> None:
    result = _check_with_action(project, format="sarif", out="my report.sarif", **{"fail-on": ""})
    assert result.returncode == 0, result.stderr
    assert len(json.loads((project / "my report.sarif").read_text("utf-8"))["runs"][0]["results"]) == 1
    assert _check_with_action(project, threshold="1").returncode == 0


def test_inputs_of_the_action_are_no_commands(project: Path) -> None:
    result = _check_with_action(project, draft="$(touch broken); --fix")
    assert result.returncode == 2
    assert not (project / "broken").exists()


def test_the_action_says_what_it_takes() -> None:
    action = _action()
    assert action["runs"]["using"] == "composite"
    assert all(about["description"].endswith(".") for about in action["inputs"].values())
    used = set(_INPUT.findall((ROOT / "action.yml").read_text("utf-8")))
    assert used == set(action["inputs"])
    assert all("uses" in step or step["shell"] == "bash" for step in action["runs"]["steps"])


def test_the_examples_in_the_docs_use_what_there_is() -> None:
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text("utf-8")
    examples = [yaml.safe_load(block) for block in re.findall(r"```yaml[^\n]*\n(.*?)```", page, re.DOTALL)]
    [workflow] = [example for example in examples if "jobs" in example]
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    [step] = [step for step in steps if step.get("uses", "").startswith("./")]
    assert set(step["with"]) <= set(_action()["inputs"])
    [hooks] = [example for example in examples if "repos" in example]
    assert [hook["id"] for repository in hooks["repos"] for hook in repository["hooks"]] == [_hook()["id"]]
