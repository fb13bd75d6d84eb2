"""Which method a name means, and with which encoder it runs."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.fakes import FakeEncoder, FakeLibrary
from whycite.cite import recommendations
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import DEFAULT_METHOD, Claim, load_method, methods
from whycite.errors import UserError
from whycite.lab.ilciter import METHODS
from whycite.library import Library
from whycite.models import load_encoder


@pytest.fixture(autouse=True)
def _fresh() -> None:
    methods.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, *entries: SimpleNamespace) -> None:
    monkeypatch.setattr(recommendations, "entry_points", lambda group: entries if group == "whycite.methods" else ())


def named(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, encoder: str) -> FakeLibrary:
    monkeypatch.setattr(type(library), "encoder", property(lambda _: encoder))
    return library


def test_every_method_is_installed() -> None:
    assert methods().keys() >= {DEFAULT_METHOD, *METHODS}
    assert DEFAULT_METHOD == "whycite"


@pytest.mark.parametrize("name", [DEFAULT_METHOD, *METHODS])
def test_methods_by_name(library: FakeLibrary, encoder: FakeEncoder, name: str) -> None:
    library.cite("cells divide", "a")
    found = load_method(name, library, encoder)
    assert found.name == name
    assert [one.paper.key for one in found.recommend(Claim("cells"))] == ["a"]


def test_unknown_method(library: FakeLibrary, encoder: FakeEncoder) -> None:
    with pytest.raises(UserError, match=r"no method 'magic'; choose one of: .*ilciter, whycite"):
        load_method("magic", library, encoder)


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
    found = load_method("mine", library, encoder)
    assert vars(found) == {"name": "mine", "library": library, "encoder": encoder}
    assert "cannot load the method 'broken' (broken:make)" in caplog.text
    with pytest.raises(UserError, match=r"choose one of: mine$"):
        load_method("whycite", library, encoder)


def test_the_encoder_of_the_library(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(load_method("whycite", named(library, monkeypatch, load_encoder().name)), EvidenceSum)


@pytest.mark.parametrize("encoder", ["fake@1", "claims-30m@00000000"])
def test_an_encoder_that_cannot_be_had(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, encoder: str) -> None:
    with pytest.raises(UserError, match=f"the library's encoder {encoder} is not available"):
        load_method("whycite", named(library, monkeypatch, encoder))


def test_importing_opens_nothing_heavy() -> None:
    heavy = "{'lancedb', 'pyarrow', 'onnxruntime', 'spacy'}"
    code = f"import sys, whycite.cite; sys.exit(bool({heavy} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
