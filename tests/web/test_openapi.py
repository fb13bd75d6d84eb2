"""Whatever is asked, the server does not fail: questions made from its own description."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from whycite.web.app import create
from whycite.web.settings import Settings

schemathesis = pytest.importorskip("schemathesis", reason="no schemathesis: pip install schemathesis")
HOST = {"host": "127.0.0.1"}


def test_no_question_makes_it_fail(kept_library: Path) -> None:
    described = schemathesis.openapi.from_asgi("/api/openapi.json", create(Settings(kept_library)), headers=HOST)
    asked = set()
    for found in described.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=8, suppress_health_check=list(HealthCheck))
        def ask(case: Any) -> None:
            answer = case.call(headers=HOST)
            assert answer.status_code < 500, answer.text

        ask()
        asked.add(operation.path)
    assert {"/api/cite", "/api/health", "/api/library", "/api/read"} <= asked
