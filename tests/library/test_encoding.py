"""Which encoder a library has, and how it is found again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from whycite.consent import trust
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library import Library, add_documents
from whycite.library.encoding import encoder_of
from whycite.library.maintenance import reindex
from whycite.models import DEFAULT, encoders, load_encoder
from whycite.models.folders import BUNDLED

Make = Callable[..., Document]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An encoder in a folder: the bundled one, which looks at a few words only."""
    made = tmp_path / "encoders" / "short"
    made.mkdir(parents=True)
    bundled = BUNDLED / DEFAULT
    for name in ("model.onnx", "tokenizer.json"):
        (made / name).symlink_to(bundled / name)
    facts = json.loads((bundled / "encoder.json").read_text())
    (made / "encoder.json").write_text(json.dumps(facts | {"name": "brief", "version": "", "max_tokens": 8}))
    return made


def test_a_new_library_with_an_encoder_in_a_folder(place: Path, folder: Path, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=str(folder))
    name = Library.open(place).encoder
    assert name.startswith("brief@")
    assert encoder_of(name, place).name == name
    add_documents(place, [numbered(2)], jobs=1)
    assert Library.open(place).info().documents == 2


def test_reindexed_with_an_encoder_in_a_folder(
    place: Path, folder: Path, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_documents(place, [numbered(1)], jobs=1)
    monkeypatch.chdir(folder.parent)
    done = reindex(place, encoder="short")
    assert (done.before, done.encoder) == (load_encoder().name, load_encoder(folder).name)
    monkeypatch.chdir(place)
    assert encoder_of(done.encoder, place).name == done.encoder


def test_a_folder_that_is_gone_or_changed(place: Path, folder: Path, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=folder)
    name = Library.open(place).encoder
    encoders.forget_encoders()
    facts = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps(facts | {"max_tokens": 9}))
    told = "with: whycite library reindex$"
    with pytest.raises(
        UserError, match=rf"library's encoder {name} is not available: installed is brief@[0-9a-f]{{8}}; .*{told}"
    ):
        add_documents(place, [numbered(2)], jobs=1)
    shutil.rmtree(folder)
    encoders.forget_encoders()
    with pytest.raises(UserError, match=rf"library's encoder {name} is not available: no encoder '{folder}'.*{told}"):
        add_documents(place, [numbered(2)], jobs=1)
    reindex(place)
    assert add_documents(place, [numbered(2)], jobs=1).added == 1
    assert Library.open(place).encoder == load_encoder().name


@pytest.mark.parametrize("content", ["{", "[]", '{"brief@1": 7}'])
def test_notes_that_somebody_changed(place: Path, content: str) -> None:
    place.mkdir()
    (place / "encoders.json").write_text(content)
    with pytest.raises(UserError, match="is not available: no encoder"):
        encoder_of("brief@1", place)


def test_a_library_cannot_replace_the_bundled_encoder(place: Path, folder: Path) -> None:
    facts = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps(facts | {"name": DEFAULT}))
    other = load_encoder(folder).name
    place.mkdir()
    (place / "encoders.json").write_text(json.dumps({other: str(folder), load_encoder().name: str(folder)}))
    assert other.startswith(f"{DEFAULT}@")
    assert encoder_of(load_encoder().name, place) is load_encoder()
    with pytest.raises(UserError, match=f"is not available: installed is {load_encoder().name}"):
        encoder_of(other, place)


@pytest.mark.parametrize("by", ["note", "name"])
def test_a_library_from_elsewhere_cannot_choose_a_folder(
    place: Path, folder: Path, by: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WHYCITE_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.chdir(folder.parent)
    name = load_encoder(folder).name
    if by == "note":
        place.mkdir()
        (place / "encoders.json").write_text(json.dumps({name: str(folder)}))
    else:
        name = f"short@{name.partition('@')[2]}"  # the name of a folder that happens to be here
    with pytest.raises(UserError, match=r"a folder that you have not named yourself; if you trust it: whycite trust "):
        encoder_of(name, place)
    trust(folder)
    if by == "note":
        assert encoder_of(name, place).name == name


def test_a_version_of_the_bundled_encoder_that_is_not_here() -> None:
    told = rf"{DEFAULT}@00000000 is not available: installed is {load_encoder().name}; .* with: whycite library reindex"
    with pytest.raises(UserError, match=told):
        encoder_of(f"{DEFAULT}@00000000")


def test_the_encoder_of_a_library_that_is_there_stays(place: Path, folder: Path, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1)
    told = rf"uses the encoder {load_encoder().name}, not brief@.*with: whycite library reindex --encoder {folder}$"
    with pytest.raises(UserError, match=told):
        add_documents(place, [numbered(2)], jobs=1, encoder=folder)
    assert Library.open(place).encoder == load_encoder().name


def test_an_unknown_encoder_makes_no_library(place: Path, numbered: Make) -> None:
    with pytest.raises(UserError, match="no encoder 'nowhere'"):
        add_documents(place, [numbered(1)], jobs=1, encoder="nowhere")
    assert not place.exists()


def test_what_was_begun_with_another_encoder_is_begun_again(place: Path, folder: Path, numbered: Make) -> None:
    add_documents(place, [], jobs=1)
    with pytest.raises(UserError, match="no library here yet"):
        Library.open(place)
    add_documents(place, [numbered(1)], jobs=1, encoder=folder)
    assert Library.open(place).encoder.startswith("brief@")
