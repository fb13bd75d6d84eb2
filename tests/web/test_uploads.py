"""Files that were sent lie in a folder of their own, whoever sends some at the same time."""

import io
import shutil
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from whycite.errors import UserError
from whycite.web import uploads
from whycite.web.uploads import Upload, remove_all, unpacked_folder, upload_folder


@pytest.fixture(autouse=True)
def _a_server_that_has_just_begun() -> Iterator[None]:
    remove_all()
    yield
    remove_all()


def _sent(_: int = 0) -> bytes:
    with upload_folder([Upload("paper.md", io.BytesIO(b"text"))]) as folder:
        return (folder / "paper.md").read_bytes()


def test_the_first_two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(**options: Any) -> TemporaryDirectory[str]:
        time.sleep(0.05)  # the others come meanwhile
        return TemporaryDirectory(**options)

    monkeypatch.setattr(uploads, "TemporaryDirectory", slowly)
    with ThreadPoolExecutor(4) as senders:
        assert list(senders.map(_sent, range(4))) == [b"text"] * 4


def test_a_folder_that_was_cleared_away_is_made_again() -> None:
    assert _sent() == b"text"
    before = Path(uploads.root_directory().name)
    shutil.rmtree(before)
    assert _sent() == b"text"
    assert Path(uploads.root_directory().name) != before


def test_a_file_beside_an_archive_that_has_a_folder_of_its_name() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("refs.bib/main.tex", "text")
    sent = [Upload("draft.zip", io.BytesIO(packed.getvalue())), Upload("refs.bib", io.BytesIO(b"@misc{a}"))]
    with pytest.raises(UserError, match=r"refs\.bib: cannot be stored"), unpacked_folder(sent):
        pass
