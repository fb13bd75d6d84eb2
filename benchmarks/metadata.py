"""How often do title, authors and year of a reference raise a false alarm? Run: python benchmarks/metadata.py

Drafts at hand, parted by their authors: the bars were chosen on one half, the other is what counts. Real citations
should get no note. Titles of the same half, but of other authors' drafts, should be called off the topic; names and
years of other references of the draft should be called different. Articles of eLife have markers with names in them;
the first 40 were looked at.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

from whycite import read
from whycite.documents import Document, stream
from whycite.models import load_encoder
from whycite.verify.drafts import DraftCitation, citations
from whycite.verify.metadata import name_note, title_similarities, topic_note

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
Draft = tuple[str, Document, list[DraftCitation]]  # whose it is, the text, and the citations whose title is known


def drafts() -> list[Draft]:
    """The drafts that cite something with a title."""
    result = []
    for entry in json.loads((DATA / "drafts" / "index.json").read_text("utf-8")):
        document = read(DATA / "drafts" / entry["name"] / entry["main"])
        cited = [citation for citation in citations(document) if citation.linked and citation.reference.title]
        if cited:
            result.append((entry["repo"], document, cited))
    return result


def topics(name: str, half: Sequence[Draft]) -> None:
    """Real titles called off the topic, and those of other authors' drafts."""
    random, encoder = Random(0), load_encoder()
    alarms = detected = total = 0
    for owner, document, cited in half:
        strange = [each.reference.title for other, _, far in half if other != owner for each in far]
        real = [(each.claim, each.sentence, each.reference.title) for each in cited]
        swapped = [(claim, sentence, random.choice(strange)) for claim, sentence, _ in real]
        for pairs, is_real in ((real, True), (swapped, False)):
            similarities = title_similarities(document, pairs, encoder)
            notes = [
                bool(topic_note(title, similarity, bool(document.paper.title)))
                for (_, _, title), similarity in zip(pairs, similarities, strict=True)
            ]
            if is_real:
                alarms, total = alarms + sum(notes), total + len(notes)
            else:
                detected += sum(notes)
    print(
        f"{name:12} titles  {total:6,} citations  false alarms {alarms:3}  "
        f"other drafts' titles noticed {detected / total:.3f}"
    )


def names(name: str, half: Sequence[Draft]) -> None:
    """Names and years next to a marker: real ones called different, and the same if the marker cites something else."""
    random = Random(0)
    alarms = detected = total = 0
    for _, document, cited in half:
        for citation in cited:
            sentence = document.sentences[citation.sentence]
            alarms += bool(name_note(sentence, citation.start, citation.end, document.by_id))
            if _names_authors(citation, document):
                total += 1
                other = random.choice([each.reference for each in cited if each.reference.id != citation.reference.id])
                keys = {key: replace(other, id=key) for key in document.by_id}
                detected += bool(name_note(sentence, citation.start, citation.end, keys))
    print(
        f"{name:12} names   {total:6,} citations  false alarms {alarms:3}  "
        f"other references noticed {detected / max(total, 1):.3f}"
    )


def _names_authors(citation: DraftCitation, document: Document) -> bool:
    """Whether a sentence names authors next to the marker: nobody of this name is an author."""
    nobody = {key: replace(reference, authors=("Qqqq, Q.",)) for key, reference in document.by_id.items()}
    return bool(name_note(document.sentences[citation.sentence], citation.start, citation.end, nobody))


def articles(name: str, start: int, end: int) -> None:
    """Names in the markers of published articles: real ones called different."""
    alarms = total = 0
    for document in islice(stream(DATA / "elife" / "elife-tiny.jsonl.zst"), start, end):
        for citation in citations(document):
            if citation.linked:
                sentence = document.sentences[citation.sentence]
                total += 1
                alarms += bool(name_note(sentence, citation.start, citation.end, document.by_id))
    print(f"{name:12} eLife   {total:6,} citations  false alarms {alarms:3}")


def main() -> None:
    """Print both halves."""
    everything = drafts()
    owners = sorted({owner for owner, _, _ in everything})
    for name, chosen in (("chosen on", set(owners[::2])), ("other half", set(owners[1::2]))):
        half = [draft for draft in everything if draft[0] in chosen]
        topics(name, half)
        names(name, half)
    articles("chosen on", 0, 40)
    articles("unseen", 40, 60)


if __name__ == "__main__":
    main()
