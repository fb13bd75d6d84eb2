"""Which method a name means, and with which encoder it runs."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from whycite.encoders import load
from whycite.errors import UserError
from whycite.library import Library
from whycite.recommend import DEFAULT, METHODS, Claim, method, methods, registry
from whycite.recommend.evidence_sum import EvidenceSum

if TYPE_CHECKING:
    from tests.recommend.conftest import FakeEncoder, FakeLibrary


@pytest.fixture(autouse=True)
def _fresh() -> None:
    methods.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, *entries: SimpleNamespace) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == "whycite.methods" else ())


def named(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, encoder: str) -> FakeLibrary:
    monkeypatch.setattr(type(library), "encoder", property(lambda _: encoder))
    return library


def test_every_method_is_installed() -> None:
    assert methods().keys() >= {*METHODS}
    assert DEFAULT == METHODS[0] == "whycite"


@pytest.mark.parametrize("name", METHODS)
def test_methods_by_name(library: FakeLibrary, encoder: FakeEncoder, name: str) -> None:
    library.cite("cells divide", "a")
    found = method(name, library, encoder)
    assert found.name == name
    assert [one.paper.key for one in found.recommend(Claim("cells"))] == ["a"]


def test_unknown_method(library: FakeLibrary, encoder: FakeEncoder) -> None:
    with pytest.raises(UserError, match=r"no method 'magic'; there are: .*ilciter, whycite"):
        method("magic", library, encoder)


def test_a_method_of_another_package(
    library: FakeLibrary, encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def make(name: str, given: Library, used: object) -> SimpleNamespace:
        return SimpleNamespace(name=name, library=given, encoder=used)

    def broken() -> None:
        raise ImportError("no such module")

    installed(
        monkeypatch,
        SimpleNamespace(name="broken", value="broken:make", load=broken),
        SimpleNamespace(name="mine", value="mine:make", load=lambda: make),
    )
    found = method("mine", library, encoder)
    assert vars(found) == {"name": "mine", "library": library, "encoder": encoder}
    assert "the method 'broken' (broken:make) cannot be loaded" in caplog.text
    with pytest.raises(UserError, match=r"there are: mine$"):
        method("whycite", library, encoder)


def test_the_encoder_of_the_library(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(method("whycite", named(library, monkeypatch, load().name)), EvidenceSum)


@pytest.mark.parametrize("encoder", ["fake@1", "claims-30m@00000000"])
def test_an_encoder_that_cannot_be_had(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, encoder: str) -> None:
    with pytest.raises(UserError, match=f"the encoder of the library, {encoder}, cannot be had"):
        method("whycite", named(library, monkeypatch, encoder))


def test_importing_opens_nothing_heavy() -> None:
    heavy = "{'lancedb', 'pyarrow', 'onnxruntime', 'spacy'}"
    code = f"import sys, whycite.recommend; sys.exit(bool({heavy} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
