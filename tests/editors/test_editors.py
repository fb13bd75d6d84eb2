"""The whole way in real editors: a draft is opened, a sentence is marked, a paper is cited, both files are saved."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.editors.conftest import Session, check_saved

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow


def test_neovim(run_editor: Session, draft: Path) -> None:
    program = shutil.which("nvim")
    if program is None:
        pytest.skip("Neovim is not installed; on Debian: apt-get install neovim")
    printed = run_editor([program, "--headless", "-u", "NONE", "-n", "-c", f"luafile {HERE / 'neovim.lua'}"])
    assert "diagnostic: whycite: This sentence needs a citation" in printed
    assert "Ignore this line" in printed
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
