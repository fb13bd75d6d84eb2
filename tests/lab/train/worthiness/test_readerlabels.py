"""Labels of a reader: those that come with the benchmarks, and the documents that they are about."""

import hashlib
import json
from pathlib import Path
from zlib import crc32

import pytest

from whycite.errors import UserError
from whycite.lab.train.fitweights import project_name
from whycite.lab.train.worthiness.readerlabels import read_judged, read_labels, reader_documents, set_aside_keys

LABELS = Path(__file__).parents[4] / "benchmarks" / "data" / "judged-sentences.jsonl"


def test_labels_that_come_with_the_benchmarks() -> None:
    labels = read_labels(LABELS)
    assert len({(own.document, own.part) for own in labels}) == len(labels)
    by_part = {part: [own for own in labels if own.part == part] for part in ("train", "test", "second")}
    assert sum(map(len, by_part.values())) == len(labels)
    learned = {own.document for own in by_part["train"] + by_part["second"]}
    assert not learned & {own.document for own in by_part["test"]}
    read = [(own.document, label.index) for own in labels for label in own.sentences]
    assert len(set(read)) == len(read)
    for own in labels:
        if own.document.startswith("drafts/"):  # the projects that rules are measured on are not learned from
            digest = hashlib.sha256(project_name(own.document.removeprefix("drafts/")).encode()).hexdigest()
            assert (own.part == "test") == (int(digest, 16) % 2 == 1)
    sentences = [sentence for own in labels for sentence in own.sentences]
    assert {part: len([label for own in owns for label in own.sentences]) for part, owns in by_part.items()} == {
        "train": 1933,
        "test": 933,
        "second": 2426,
    }
    assert {sentence.draft for sentence in sentences} == {"A", "B"}
    assert min(sentence.count for sentence in sentences) >= 1


@pytest.mark.parametrize("content", ["no", "{}", '{"document": "a", "part": "train", "sentences": [[1, 2]]}'])
def test_damaged_labels(tmp_path: Path, content: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(content)
    with pytest.raises(UserError, match="cannot be read as labels"):
        read_labels(file)


def _write(tmp_path: Path, number: int = 40) -> tuple[Path, Path]:
    """A draft in which every sentence with "w7" needs a citation, and its labels; the last one has changed since."""
    texts = [f"{'w7' if index % 2 else 'w9'} w{index % 5 + 10} w{index % 3 + 20} cells." for index in range(number)]
    draft = tmp_path / "drafts" / "own"
    draft.mkdir(parents=True)
    (draft / "draft.md").write_text("# Findings\n\n" + "\n\n".join(texts) + "\n")
    sentences = [[index, crc32(text.encode()), "A", 2 * (index % 2), 1.0] for index, text in enumerate(texts)]
    sentences[-1][1] = 5
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps({"document": "drafts/own", "part": "train", "sentences": sentences}) + "\n")
    return tmp_path, labels


def test_sentences_that_have_changed_are_left_out(tmp_path: Path) -> None:
    data, labels = _write(tmp_path)
    ((document, own),) = read_judged(read_labels(labels), data)
    assert len(own.sentences) == 39
    for label in own.sentences:
        assert ("w7" in document.sentences[label.index].text) == (label.label == 2)


def test_what_is_set_aside_is_not_learned(tmp_path: Path) -> None:
    data, labels = _write(tmp_path)
    (document,) = reader_documents(read_labels(labels), data)
    sentences = [sentence for paragraph in document.paragraphs for sentence in paragraph.sentences]
    assert [sentence.reader_label for sentence in sentences] == [2 * ("w7" in each.text) for each in sentences]
    assert set_aside_keys(read_labels(labels), data) == set()
    labels.write_text(labels.read_text().replace('"train"', '"test"'))
    assert reader_documents(read_labels(labels), data) == []
    assert set_aside_keys(read_labels(labels), data) == {document.key}
