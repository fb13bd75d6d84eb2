"""Which encoder a name means, and what is said when there is none."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.fakes import FakeEncoder, word_table_folder
from whycite.errors import UserError
from whycite.models import DEFAULT, bundled_encoders, encoders, folders, load_encoder
from whycite.models.encoders import OnnxEncoder


def test_the_default_is_bundled() -> None:
    assert DEFAULT in bundled_encoders()
    assert load_encoder() is load_encoder(DEFAULT)


def test_loaded_once_for_each_number_of_threads() -> None:
    assert load_encoder(threads=1) is load_encoder(threads=1)
    assert load_encoder(threads=1) is not load_encoder(threads=2)


def test_as_many_threads_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(5), raising=False)
    encoder = load_encoder()
    assert isinstance(encoder, OnnxEncoder)
    assert encoder.threads == 5


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads(threads: int) -> None:
    with pytest.raises(UserError, match="threads must be 1 or more"):
        load_encoder(threads=threads)


def test_unknown_name() -> None:
    with pytest.raises(UserError, match=r"no encoder 'nowhere'; use .*claims-30m.* folder"):
        load_encoder("nowhere")


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no encoder"):
        load_encoder(tmp_path / "gone")


def test_encoders_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = SimpleNamespace(name="counting", load=lambda: lambda threads: FakeEncoder(name=f"counting@{threads}"))
    monkeypatch.setattr(folders, "entry_points", lambda group: [entry] if group == "whycite.encoders" else [])
    encoders.forget_encoders()
    found = load_encoder("counting", threads=2)
    assert isinstance(found, FakeEncoder)
    assert found.name == "counting@2"
    with pytest.raises(UserError, match="claims-30m, counting"):
        load_encoder("other")


def test_a_folder_by_path_and_by_name(tmp_path: Path) -> None:
    made = word_table_folder(tmp_path / "tiny")
    by_path = load_encoder(made).encode(["cells"])
    np.testing.assert_array_equal(load_encoder(str(made)).encode(["cells"]), by_path)


def test_importing_opens_nothing_heavy() -> None:
    heavy = "{'onnxruntime', 'tokenizers', 'onnx'}"
    load = "import sys; from whycite.models import load_encoder; load_encoder()"
    code = f"{load}; sys.exit(bool({heavy} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
