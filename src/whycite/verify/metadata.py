"""What title, authors and year of a reference tell about a citation; useful where the full text is not at hand.

None of it is a verdict: a name or a year in the sentence that disagrees with the reference, or a title far off the
topic. `python benchmarks/metadata.py` measures both on real drafts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import numpy as np

from whycite.documents.model import Document, Reference, Sentence
from whycite.documents.references.names import is_institution
from whycite.evidence.words import has_content_words
from whycite.models import Encoder
from whycite.text.language import is_english_draft, is_foreign_sentence
from whycite.text.tokens import fold

__all__ = ["name_note", "title_similarities", "topic_note"]

_PARTICLES = r"(?:(?:van|von|de|der|den|di|da|del|della|la|le|du|dos|ten|ter|el|al)[ -]){0,3}"
_FAMILY = rf"{_PARTICLES}[^\W\d_a-z](?:[\w’']|[-‐](?=\w))*[^\W\d_]"
_BESIDE = r"(?:,?\ et\ al\b\.?|,?\ (?:and|&)\ (?:(?:his|her|their)\ )?(?:colleagues|co-?workers)\b)(?:[’']s?)?"
# Only what can hardly be anything but authors: "et al.", "and colleagues", or a year in brackets or after a comma.
# "Adam [3]", "Gaia and Hipparcos [3]" and "WMT 2014 [3]" name no authors.
_AUTHORS = re.compile(
    rf"""(?<![\w.-])(?P<family>{_FAMILY})
         (?: {_BESIDE} (?:,?\ ?[(\[]?(?P<year>(?:19|20)\d\d)[a-z]?[)\]]?)?
           | (?:\ (?:and|&)\ (?P<second>{_FAMILY}))? (?:\ [(\[]|,\ )(?P<only_year>(?:19|20)\d\d)[a-z]?[)\]]?
         )[\s(\[]*$""",
    re.VERBOSE,
)
_WINDOW = 120  # characters before a marker, and of the marker itself, in which its authors may stand
_SAME_NAME = 0.75  # similarity from which two spellings may be one name, such as "Mueller" and "Müller"
_DATES = frozenset(
    "january february march april may june july august september october november december spring summer autumn fall "
    "winter".split()
)


def name_note(sentence: Sentence, start: int, end: int, references: Mapping[str, Reference]) -> str:
    """How the authors or the year next to the marker at `start` to `end` disagree with every reference it points to.

    Empty if they agree, if the sentence names nobody there, or if too little is known of a reference.
    """
    citations = [citation for citation in sentence.citations if start <= citation.start and citation.end <= end]
    cited = [references[key] for citation in citations for key in citation.keys if key in references]
    if not cited or not all(_has_people(reference) for reference in cited):
        return ""
    marker_start = min(citation.text_start for citation in citations)
    marker = sentence.text[marker_start : max(citation.text_end for citation in citations)].strip("()[] ")
    lead = sentence.text[max(0, marker_start - _WINDOW) : marker_start]
    authors = _AUTHORS.search(lead) or (_AUTHORS.search(marker) if len(marker) <= _WINDOW else None)
    if authors is None:
        return ""
    names = [name for name in (authors["family"], authors["second"]) if name]
    year = int(authors["year"] or authors["only_year"] or 0)
    if authors["only_year"] and _may_name_something_else(names[0], cited):
        return ""
    agreeing = [reference for reference in cited if all(_is_author(name, reference) for name in names)]
    if not agreeing:
        return f"the sentence says {' and '.join(names)}{f' {year}' if year else ''}, the entry is {_short(cited[0])}"
    if year and all(reference.year not in (year, None) for reference in agreeing):
        return f"the sentence says {year}, the entry is from {agreeing[0].year}"
    return ""


def _has_people(reference: Reference) -> bool:
    """Whether a reference has authors who are people: "Aad et al." is right for the ATLAS Collaboration."""
    return bool(reference.authors) and not any(is_institution(author) for author in reference.authors)


def _may_name_something_else(name: str, cited: Sequence[Reference]) -> bool:
    """Whether a name with a year may be a date, a data set or a program: "March (2019)", "ImageNet (2012)"."""
    word = fold(name)
    titles = fold(" ".join(f"{reference.title} {reference.venue} {reference.text}" for reference in cited))
    return (
        word in _DATES
        or not name.split()[-1][1:].islower()
        or (word in titles.split() and not _is_author(name, cited[0]))
    )


def _is_author(name: str, reference: Reference) -> bool:
    """Whether a name may be that of an author: family and given names come in any order and spelling."""
    words = _words(name)[-1:]  # without particles
    author_words = {word for author in reference.authors for word in _words(author)}
    return all(
        any(SequenceMatcher(None, word, author_word).ratio() >= _SAME_NAME for author_word in author_words)
        for word in words
    )


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", fold(name))


def _short(reference: Reference) -> str:
    """ "Jones 2018", "Jones and Roe 2018", "Jones et al. 2018"."""
    families = [author.partition(",")[0] for author in reference.authors]
    who = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
    return f"{who} {reference.year}" if reference.year else who


# Chosen on half of the drafts at hand: 1 of 1,256 citations has a title less similar than this to its claim, its
# paragraph and the draft's title; half of the titles taken from other drafts have. On the other half it is
# less careful: 17 of 2,472 citations get a note (benchmarks/RESULTS.md).
_OFF_TOPIC = 0.31
_OFF_TOPIC_WITHOUT_TITLE = 0.2  # if the draft has no title: 1 of 1,000 citations, one in five of the others' titles
_MIN_CLAIM_WORDS = 3  # content words; "Source:" has no topic
_MIN_TITLE_WORDS = 4  # "Occam's razor" may be cited for anything


def topic_note(title: str, similarity: float, has_draft_title: bool) -> str:
    """That a title is far off the topic of the text that cites it; empty if it is not."""
    bar = _OFF_TOPIC if has_draft_title else _OFF_TOPIC_WITHOUT_TITLE
    return f"the title “{title}” seems to be about something else" if similarity < bar else ""


def title_similarities(document: Document, cited: Sequence[tuple[str, int, str]], encoder: Encoder) -> list[float]:
    """How similar titles are to what cites them; `cited` has claim, index of the sentence, and title.

    The nearest of claim, sentence, paragraph and title of the draft counts. It is 1 where nothing can be said: for
    short claims and titles, and for other languages than English.
    """
    similarities = [1.0] * len(cited)
    telling = [row for row, (claim, _, title) in enumerate(cited) if _tells_topic(claim, title)]
    if not telling or not is_english_draft([sentence.text for sentence in document.sentences]):
        return similarities
    paragraphs: dict[tuple[str, int], list[str]] = {}
    for sentence in document.sentences:
        paragraphs.setdefault((sentence.file, sentence.paragraph), []).append(sentence.without_citations())
    rows: list[int] = []
    titles: list[str] = []
    contexts: list[str] = []
    for row in telling:
        claim, index, title = cited[row]
        sentence = document.sentences[index]
        paragraph = " ".join(paragraphs[sentence.file, sentence.paragraph])
        for context in dict.fromkeys((claim, sentence.without_citations(), paragraph, document.paper.title)):
            if context:
                rows.append(row)
                titles.append(title)
                contexts.append(context)
    vectors = encoder.encode([*titles, *contexts])
    nearest = np.full(len(cited), -1.0)
    np.maximum.at(nearest, rows, (vectors[: len(titles)] * vectors[len(titles) :]).sum(1))
    for row in telling:
        similarities[row] = float(nearest[row])
    return similarities


def _tells_topic(claim: str, title: str) -> bool:
    return (
        has_content_words(claim, enough=_MIN_CLAIM_WORDS)
        and has_content_words(title, enough=_MIN_TITLE_WORDS)
        and not is_foreign_sentence(claim)
        and not is_foreign_sentence(title)
    )
