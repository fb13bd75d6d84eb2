"""Whatever is asked, the server does not fail: questions made from its own description."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from starlette.testclient import TestClient

from whycite.web.app import assemble, create
from whycite.web.serverstate import ServerSettings

HOST = {"host": "127.0.0.1"}
ASKED = {
    "/api/check",
    "/api/check/fix",
    "/api/check/stream",
    "/api/cite",
    "/api/cite/batch",
    "/api/health",
    "/api/library",
    "/api/library/collections",
    "/api/library/collections/{name}",
    "/api/library/documents",
    "/api/library/documents/remove",
    "/api/library/documents/{id}",
    "/api/library/documents/{id}/file",
    "/api/library/export",
    "/api/library/statistics",
    "/api/library/uploads/{id}",
    "/api/library/zotero",
    "/api/papers/{key}",
    "/api/projects",
    "/api/projects/example",
    "/api/projects/{id}",
    "/api/projects/{id}/acceptances/{verdict}",
    "/api/projects/{id}/citations/{verdict}",
    "/api/projects/{id}/citations/{verdict}/paper",
    "/api/projects/{id}/comments/{sentence}",
    "/api/projects/{id}/dismissals/{verdict}",
    "/api/projects/{id}/draft",
    "/api/projects/{id}/events",
    "/api/projects/{id}/files",
    "/api/projects/{id}/files/{file}",
    "/api/projects/{id}/progress",
    "/api/projects/{id}/report",
    "/api/projects/{id}/run",
    "/api/projects/{id}/sentences/{number}/papers",
    "/api/read",
    "/api/verify",
}
FILES_AND_EVENTS = {
    "/api/check/fix",
    "/api/check/stream",
    "/api/library/documents/{id}/file",
    "/api/library/export",
    "/api/library/uploads/{id}",
    "/api/projects/{id}/events",
    "/api/projects/{id}/files/{file}",
    "/api/projects/{id}/report",
}


def _asked(library: Path, examples: int) -> set[str]:
    """Every operation with so many questions; the paths that were asked."""
    schemathesis = pytest.importorskip("schemathesis", reason="no schemathesis: pip install schemathesis")
    app, server = assemble(ServerSettings(library))
    described = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers=HOST)
    asked = set()
    for found in described.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
        def ask(case: Any) -> None:
            answer = case.call(headers=HOST)
            busy = answer.status_code == 503 and "retry-after" in answer.headers  # uploads are added slower
            assert answer.status_code < 500 or busy, answer.text
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == ["application/problem+json"]

        ask()
        asked.add(operation.path)
    assert server.close(60)
    return asked


def test_no_question_makes_it_fail(kept_library: Path, tmp_path: Path) -> None:
    assert _asked(copytree(kept_library, tmp_path / "library"), 4) == ASKED


@pytest.mark.slow
def test_none_of_many_questions_makes_it_fail(kept_library: Path, tmp_path: Path) -> None:
    assert _asked(copytree(kept_library, tmp_path / "library"), 100) == ASKED


def test_every_answer_is_described() -> None:
    described = create(ServerSettings(Path("nowhere")))
    description = TestClient(described, base_url="http://127.0.0.1").get("/api/openapi.json").json()
    results = {name: schema for name, schema in description["components"]["schemas"].items() if "Body_" not in name}
    assert {"Paper", "Recommendation", "Finding", "Passage", "Document", "LibraryInfo"} <= set(results)
    assert not [name for name, schema in results.items() if name.endswith("Json") or not schema["description"]]
    paths = description["paths"]
    names = [operation["operationId"] for operations in paths.values() for operation in operations.values()]
    assert len(set(names)) == len(names)
    assert {"cite", "library_documents", "projects_create", "projects_accept", "papers_paper"} <= set(names)
    assert description["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert set(paths) == ASKED
    for path, operations in paths.items():
        for operation in operations.values():
            good = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
            kinds = good.get("content", {})
            assert path in FILES_AND_EVENTS or "$ref" in kinds["application/json"]["schema"]


def test_problems_and_questions_come_with_examples(client: TestClient) -> None:
    description = client.get("/api/openapi.json").json()
    schemas = description["components"]["schemas"]
    for operations in description["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    continue
                assert set(answer["content"]) == {"application/problem+json"}  # as it is sent
                problem = answer["content"]["application/problem+json"]
                assert problem["schema"] == {"$ref": "#/components/schemas/ProblemDetails"}
                assert problem["example"].keys() == schemas["ProblemDetails"]["properties"].keys()
                assert problem["example"]["status"] == int(status)
            question = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if question:
                assert schemas[question["schema"]["$ref"].rpartition("/")[2]]["examples"]
