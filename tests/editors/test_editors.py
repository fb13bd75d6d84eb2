"""The whole way in real editors: a draft is opened, a sentence is marked, a paper is cited, both files are saved."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.editors.conftest import Session, check_saved

HERE = Path(__file__).parent
COMPLAINT = "User-specified pattern found: granite"
EFM_SETTINGS = """version: 2
root-markers: [main.tex]
languages:
  tex:
    - lint-command: chktex -q -v0 -I0 -l RULES
      lint-stdin: true
      lint-formats: ['%f:%l:%c:%n:%m', '%f:%l:%c:%m']
"""
pytestmark = pytest.mark.slow


def test_neovim(run_editor: Session, draft: Path) -> None:
    program = shutil.which("nvim")
    if program is None:
        pytest.skip("Neovim is not installed; on Debian: apt-get install neovim")
    printed = run_editor([program, "--headless", "-u", "NONE", "-n", "-c", f"luafile {HERE / 'neovim.lua'}"])
    assert "diagnostic: whycite: This sentence needs a citation" in printed
    assert "Ignore this line" in printed
    check_saved(draft)


def test_neovim_with_another_server_on_the_same_draft(run_editor: Session, draft: Path, tmp_path: Path) -> None:
    """A linter of TeX behind efm-langserver, which is in Debian, as texlab or LTeX+ would be."""
    program, *others = map(shutil.which, ("nvim", "efm-langserver", "chktex"))
    if program is None or None in others:
        pytest.skip("Neovim, efm-langserver or chktex is not installed; on Debian: apt-get install them")
    settings = tmp_path / "efm.yaml"
    rules = tmp_path / "chktexrc"
    rules.write_text("UserWarn { granite }\n", "utf-8")
    settings.write_text(EFM_SETTINGS.replace("RULES", str(rules)), "utf-8")
    run = [program, "--headless", "-u", "NONE", "-n", "--cmd", f"let $WHYCITE_BESIDE = '{others[0]} -c {settings}'"]
    printed = run_editor([*run, "-c", f"luafile {HERE / 'neovim.lua'}"])
    assert "diagnostic: whycite: This sentence needs a citation" in printed
    assert f"diagnostic of another server: {COMPLAINT}" in printed
    assert f"diagnostic of another server after the citation: {COMPLAINT}" in printed
    check_saved(draft)


def test_emacs(run_editor: Session, draft: Path) -> None:
    program = shutil.which("emacs")
    if program is None:
        pytest.skip("Emacs is not installed; on Debian: apt-get install emacs-nox elpa-eglot")
    if subprocess.run([program, "--batch", "--eval", "(require 'eglot)"], capture_output=True, check=False).returncode:
        pytest.skip("this Emacs has no eglot; on Debian: apt-get install elpa-eglot")
    printed = run_editor([program, "--batch", "-l", str(HERE / "emacs.el")])
    assert "]: This sentence needs a citation" in printed
    assert "Ignore this line" in printed
    check_saved(draft)
