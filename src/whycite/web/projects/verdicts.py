"""The verdicts of a project: one line of JSON per verdict, written as it comes, so that nothing is lost on the way."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import Lock

from whycite.documents.model import Document
from whycite.files import write_lines
from whycite.verify.drafts import CitationVerdict, CitationVerdictJson, citation_verdict_json
from whycite.verify.verification import Verification, verification_from_json

__all__ = ["CitationNames", "PaperSource", "VerdictJournal", "VerdictRecord", "sentence_ids", "verdict_record"]

_PASSAGES = 5  # per verdict


class VerdictRecord(CitationVerdictJson):
    """The verdict on a citation of a project's draft: the sentence, the cited paper, and the passages behind it."""

    id: str
    sentence: int  # its place in the draft, from 0
    paper_hash: str  # of the file that was read; empty if there was none
    paper_file: str  # the id of that file in the project; empty if it is not one of its files
    paper_document: str  # the id of the cited paper in the library; empty if it was read from the project
    link: str  # the address of the cited paper; empty if it has neither DOI nor arXiv id
    draft: str  # the hash of the draft
    version: str  # of whycite


class CitationNames:
    """Names citations by what they say and cite, so that a new version of the draft keeps what was decided."""

    def __init__(self) -> None:
        self._occurrences: Counter[tuple[str, str]] = Counter()

    def name(self, claim: str, reference: str) -> str:
        """The id of the next citation with this claim and reference."""
        self._occurrences[claim, reference] += 1
        content = "\0".join((claim, reference, str(self._occurrences[claim, reference])))
        return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def sentence_ids(draft: Document) -> list[str]:
    """The ids of the sentences of a draft, which a new version keeps."""
    names = CitationNames()
    return [names.name(sentence.text, "") for sentence in draft.sentences]


@dataclass(frozen=True, slots=True)
class PaperSource:
    """Where the text of a cited paper was read: the hash of the file, and its id in the project or the library."""

    content_hash: str = ""
    file: str = ""
    document: str = ""


def verdict_record(
    checked: CitationVerdict, id: str, draft: str, source: PaperSource, link: str, draft_folder: Path
) -> VerdictRecord:
    """A verdict as it is kept, with names of files instead of paths on this machine."""
    record: VerdictRecord = {
        **citation_verdict_json(checked, _PASSAGES),
        "id": id,
        "sentence": checked.sentence,
        "paper_hash": source.content_hash,
        "paper_file": source.file,
        "paper_document": source.document,
        "link": link,
        "draft": draft,
        "version": version("whycite"),
    }
    record["file"] = record["file"].replace(f"{draft_folder}/", "")
    record["paper"] = Path(checked.paper).name
    record["reason"] = record["reason"].replace(f"{Path(checked.paper).parent}/", "")
    return record


class VerdictJournal:
    """The verdicts in a file, and in memory in the order in which they came."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._records = _load(path)
        self.token = secrets.token_hex(4)  # changes when the order does

    def since(self, token: str, count: int) -> tuple[str, int, list[VerdictRecord]]:
        """The token, the number of verdicts, and those after the first `count`, or all if the token has changed."""
        with self._lock:
            start = count if token == self.token else 0
            return self.token, len(self._records), self._records[start:]

    def latest(self, draft: str) -> list[VerdictRecord]:
        """The last verdict on each citation of a draft."""
        with self._lock:
            by_id = {record["id"]: record for record in self._records if record["draft"] == draft}
        return sorted(by_id.values(), key=lambda record: (record["sentence"], record["start"]))

    def find(self, draft: str, id: str) -> VerdictRecord | None:
        """The last verdict on a citation of a draft."""
        return next((record for record in self.latest(draft) if record["id"] == id), None)

    def append(self, record: VerdictRecord) -> None:
        """Keep a verdict."""
        line = json.dumps(record) + "\n"
        with self._lock:
            with self._path.open("a", encoding="utf-8", errors="surrogatepass") as file:
                file.write(line)
            self._records.append(record)

    def keep_only(self, ids: Sequence[str], draft: str) -> None:
        """Forget verdicts on other citations and drafts, and those that were replaced."""
        kept_ids = set(ids)
        records = [record for record in self.latest(draft) if record["id"] in kept_ids]
        with self._lock:
            if len(records) != len(self._records):
                write_lines(self._path, (json.dumps(record) + "\n" for record in records))
                self._records, self.token = records, secrets.token_hex(4)

    def verifications(self) -> dict[tuple[str, str], Verification]:
        """The verifications so far by hash of the paper and claim, so that none has to be made twice."""
        current = version("whycite")
        with self._lock:
            return {
                (record["paper_hash"], record["claim"]): verification_from_json(record)
                for record in self._records
                if record["paper_hash"] and record["chances"] and record["version"] == current
            }


def _load(path: Path) -> list[VerdictRecord]:
    records = []
    try:
        lines = path.read_text("utf-8", "surrogatepass").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            record: VerdictRecord = json.loads(line)
        except ValueError:  # cut off when the server was killed: this one is verified again
            continue
        record.setdefault("paper_file", "")  # which older records lack
        record.setdefault("paper_document", "")
        records.append(record)
    return records
