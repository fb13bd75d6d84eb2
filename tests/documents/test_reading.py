"""Readers are plug-ins: one that is broken does not break the others."""

from importlib.metadata import EntryPoint

import pytest

from whycite.documents import reading


def test_a_broken_reader_is_left_out(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    entries = [
        EntryPoint("bad", "no_such_module:READER", "whycite.readers"),
        EntryPoint("plain", "whycite.documents.plain:READER", "whycite.readers"),
        EntryPoint("latex", "whycite.documents.latex:READER", "whycite.readers"),
    ]
    monkeypatch.setattr(reading, "entry_points", lambda group: entries)
    reading.readers.cache_clear()
    try:
        assert list(reading.readers()) == ["latex", "plain"]
    finally:
        reading.readers.cache_clear()
    assert "cannot load the reader 'bad' (no_such_module:READER)" in caplog.text
