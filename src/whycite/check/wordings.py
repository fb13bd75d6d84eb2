"""What the wording of a sentence says for certain: that it reports earlier work, states an own result, thanks, …"""

from __future__ import annotations

import re
from collections.abc import Iterable

from whycite.check.mentions import REPORTING_VERBS
from whycite.text.wordlists import load_tables

__all__ = [
    "appeals_to_knowledge",
    "gives_statistic",
    "gives_thanks",
    "is_own_publication_heading",
    "is_url_only",
    "lists_own_publications",
    "looks_like_caption",
    "looks_like_heading",
    "outlines_draft",
    "reports_previous_work",
    "says_where_available",
    "starts_block_quote",
    "states_limitation",
    "states_own_result",
]

_WORDS = load_tables(__name__)


def _any(name: str) -> str:
    words = _WORDS[name]
    return _alternatives(words.split() if isinstance(words, str) else words)


def _alternatives(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"


_WORK, _PARTICIPLE, _PUBLISHED = rf"(?:{_any('work')}|{_any('people')})", _any("participles"), _any("published")
_EARLIER_WORK = rf"{_any('earlier')} (?:[\w-]+ ){{0,2}}?{_WORK}"
_REPORTS = rf"(?:(?:has|have|had) (?:\w+ )?{_PARTICIPLE}|{_alternatives(sorted(REPORTING_VERBS))})\b"
_PREVIOUS_WORK = re.compile(
    "|".join(
        [
            rf"(?<!\bthe )\b{_EARLIER_WORK}\b(?: [\w-]+){{0,4}}? {_REPORTS}",
            rf"\b{_any('several')} (?:[\w-]+ ){{0,2}}?{_WORK} (?:\w+ly |also )?{_REPORTS}",
            rf"\b(?:studies|research|literature|{_any('people')}) (?:has|have) (?:\w+ly |also |long )?{_PARTICIPLE}\b",
            rf"\b{_any('agreement')} (?:our |the )?{_EARLIER_WORK}\b",
            rf"\b{_any('agreeing')} (?:(?!{_any('own')}\b)[\w-]+ ){{0,2}}?{_any('reports')} {_any('of_others')}\b",
            rf"\b(?:in|by) {_EARLIER_WORK}\b",
            rf"\b(?:has|have|had) (?:\w+ )?been (?:\w+ )?{_PUBLISHED}\b",
            rf"\b(?:was|were|as) (?:previously|recently) {_PUBLISHED}\b",
            rf"\b(?:previously|recently) {_PUBLISHED} (?:by|for|that)\b",
            r"\bthe same (?:study|paper|article|authors)\b",
        ]
    ),
    re.IGNORECASE,
)
# Work that the sentence before speaks of, and cites.
_ANAPHORA = re.compile(rf"\b(?:this|these|those) (?:[\w-]+ ){{0,2}}?{_WORK}\b", re.IGNORECASE)
_DENIAL = re.compile(rf"\b{_any('denials')}\b|n't\b", re.IGNORECASE)
_NUMBER = r"(?:REF|\d[\w.]*|[A-Z]\b|[IVX]+\b)"
_PART, _FLOAT, _DOCUMENT = _any("parts"), _any("floats"), _any("documents")
# A pointer within the draft: what is reported there is cited there.
_POINTER = re.compile(
    rf"(?:{_PART}|{_FLOAT})\s?{_NUMBER}|\bREF\b|\b(?:above|below|here|this (?:study|work|{_DOCUMENT}))\b"
)


def reports_previous_work(text: str) -> bool:
    """Whether a sentence reports what others found: "previous studies show", "it has been shown"."""
    return bool(_PREVIOUS_WORK.search(text)) and not any(
        pattern.search(text) for pattern in (_POINTER, _DENIAL, _ANAPHORA)
    )


_ADVERBS = rf"(?:,? (?:\w+ly|{_any('adverbs')}),?)*"
_OWN_RESULT = re.compile(
    "|".join(
        [
            rf"(?<!\b[Aa]s )(?<!\bwhat )\b(?:[Ww]e|I){_ADVERBS} {_any('own_verbs')}\b",
            rf"\b[Oo]ur (?:[\w-]+ ){{0,2}}?{_any('own_work')}(?: [\w-]+){{0,2}}? {_any('showing')}\b",
            rf"{_FLOAT}\s?\(?{_NUMBER}\)?(?: \([^)]{{0,80}}\))?{_ADVERBS} {_any('showing')}\b",
            rf"\b(?:[Aa]s|is|are|be) {_any('pictured')} in (?:the )?{_FLOAT}",
        ]
    )
)
_COMPARISON = re.compile(rf"\b{_any('comparisons')}\b", re.IGNORECASE)
_OTHERS = re.compile(rf"\b{_any('others')}\b", re.IGNORECASE)


def states_own_result(text: str) -> bool:
    """Whether a sentence states what its authors found, and compares it with nothing else."""
    return bool(_OWN_RESULT.search(text)) and not _COMPARISON.search(text) and not _OTHERS.search(text)


_LIMITATION = re.compile(
    rf"\b{_any('limits')} (?:of|about|to|in) (?:our|this|the (?:present|current)) (?:[\w-]+ )?{_any('limited_work')}\b"
    rf"|\bour (?:[\w-]+ )?{_any('limited_work')} (?:is|are|was|were|has|have|had) (?:\w+ )?(?:limited|limitations?)\b",
    re.IGNORECASE,
)


def states_limitation(text: str) -> bool:
    """Whether a sentence says what speaks for or against the draft's own work: "A limitation of this study is"."""
    return bool(_LIMITATION.search(text)) and not _COMPARISON.search(text) and not _OTHERS.search(text)


# Less than one per cent is mostly a concentration: "0.02 % mitomycin".
_SHARE = re.compile(rf"(?<![\d.,])(?!0[.,])\d[\d.,]*(?: to \d[\d.,]*)?\s?{_any('statistics')}(?!\w)", re.IGNORECASE)
_OWN_FIGURE = re.compile(rf"\b{_any('own_figures')}\b", re.IGNORECASE)


def gives_statistic(text: str) -> bool:
    """Whether a sentence gives a share or a large number that is not of the draft's own making."""
    return bool(_SHARE.search(text)) and not any(pattern.search(text) for pattern in (_POINTER, _OWN_FIGURE))


_HOW_WELL = rf"(?:(?:\w+ly|{_any('degrees')}) |well[- ])*"
_KNOWN = re.compile(
    rf"\b(?:is|are) {_HOW_WELL}known (?:to (?!{_any('knowers')}\b)(?-i:[a-z])|for\b)"
    rf"|\bit (?:is|has been|has long been) {_HOW_WELL}{_any('accepted')} that\b"
    rf"|\b(?:is|are|has been|have been) (?:now |also )?(?:well|widely|generally|firmly)[- ]{_any('accepted')}\b",
    re.IGNORECASE,
)


def appeals_to_knowledge(text: str) -> bool:
    """Whether a sentence says that something is known: "bees are known to sleep", "it is well established that"."""
    return bool(_KNOWN.search(text)) and not any(pattern.search(text) for pattern in (_POINTER, _DENIAL, _OWN_FIGURE))


_IN_PART = rf"in (?:(?:more |greater )?detail in )?(?:the )?(?:next |following )?{_PART}"
_OUTLINE = re.compile(
    "|".join(
        [
            rf"(?:^|[,;] |\b[Ii]n ){_PART}\s?{_NUMBER},?{_ADVERBS}(?: (?:we|I|will){_ADVERBS})* {_any('telling')}\b",
            rf"\b(?:as|is|are|be|been){_ADVERBS} {_any('described')} {_IN_PART}",
            rf"\b(?:rest|remainder|structure|outline) of (?:this|the) {_DOCUMENT}\b",
            rf"\b[Tt]his {_DOCUMENT}{_ADVERBS}(?: will)? {_any('telling')}\b",
            r"\b[Ii]n (?:this|the (?:next|following)) (?:section|chapter|appendix),? (?:we|I)\b",
        ]
    )
)


def outlines_draft(text: str) -> bool:
    """Whether a sentence says what a part of the draft contains: "Section 2 describes"."""
    return bool(_OUTLINE.search(text)) and not _COMPARISON.search(text)


_THANKS = re.compile(
    r"\b(?:[Ww]e|I|[Tt]he authors?)(?: \w+){0,2} (?:thanks?|thanked|grateful|acknowledges? (?:the )?(?:support|help))\b"
    r"|\b(?:work|research|study|project|paper|author|authors) (?:was|were|is|are|has been|have been)"
    r"(?: (?:partially|partly|in part|also|generously|financially))? (?:supported|funded) by\b"
    r"|\b(?:work|research|study|project|paper) (?:has )?(?:made|makes) use of\b"
    r"|\b[Aa]ll authors (?:have )?(?:read|contributed|participated|approved|declare)\b"
    r"|\b(?:was|were) done in collaboration with\b"
    r"|\b(?:competing (?:financial )?interests?|conflicts? of interest)\b"
)


def gives_thanks(text: str) -> bool:
    """Whether a sentence thanks somebody, names who paid or took part, or declares interests."""
    return bool(_THANKS.search(text))


_PAPERS = _any("paper")
_OWN_PUBLICATIONS = re.compile(
    rf"\b(?:thesis|dissertation|chapter|work) is (?:\w+ )?based (?:up)?on (?:the )?following (?:\w+ )?{_PAPERS}\b"
    rf"|\bfollowing (?:\w+ )?{_PAPERS} (?:is|are|were|was|has|have) (?:\w+ )?(?:included|reprinted|part)\b",
    re.IGNORECASE,
)


def lists_own_publications(text: str) -> bool:
    """Whether a sentence introduces the papers of its author: "This thesis is based on the following papers"."""
    return bool(_OWN_PUBLICATIONS.search(text))


def is_own_publication_heading(heading: str) -> bool:
    """Whether a section lists publications of its author."""
    return heading.lower().strip(" .:") in _WORDS["publication_headings"]


_URL = re.compile(r"(?:https?://|www\.)\S+")
_URL_FRAME = re.compile(rf"(?:[\W\d_]|\b{_any('url_words')}\b)*", re.IGNORECASE)


def is_url_only(text: str) -> bool:
    """Whether a sentence consists of a URL and words that introduce it."""
    return bool(_URL.search(text)) and _URL_FRAME.fullmatch(_URL.sub(" ", text)) is not None


_AVAILABLE = re.compile(
    rf"\b{_any('materials')}\b[^.;]{{0,120}}? (?:is|are|was|were|be|been)(?: \w+){{0,3}} {_any('available')}\b"
    r"|^(?:also )?(?:check|visit|see) |\((?:[^()]{0,40}[\s:,])?(?:https?://|www\.)",
    re.IGNORECASE,
)


def says_where_available(text: str) -> bool:
    """Whether a sentence says at which URL code, data or other material is to be found, or gives one in brackets."""
    return bool(_URL.search(text) and _AVAILABLE.search(text))


_CAPTION = re.compile(rf"{_FLOAT}\s?{_NUMBER}\s?[:.|]\s")
_MAX_HEADING_WORDS = 8
_END = re.compile(r"[.!?…:;,]['\"”’)\]]*$")


def looks_like_caption(text: str) -> bool:
    """Whether a sentence begins like a caption: "Figure 3: …"."""
    return bool(_CAPTION.match(text))


def looks_like_heading(text: str) -> bool:
    """Whether a paragraph is short, begins with a capital and ends without a stop."""
    return text[:1].isupper() and len(text.split()) <= _MAX_HEADING_WORDS and not _END.search(text)


_BLOCK_QUOTE = re.compile(
    r"(?:\s|%[^\n]*\n|\\(?:par|noindent|\w+skip)\b)*"
    r"(?:\\begin\{(?:quot(?:e|ation)|display\w*quote|verse|blockquote)\*?\}|\\blockquote\b|#quote\(|\n[ \t]*>)"
)


def starts_block_quote(source: str) -> bool:
    """Whether a block quotation comes next in the source of a draft: LaTeX, Markdown or Typst."""
    return bool(_BLOCK_QUOTE.match(source))
