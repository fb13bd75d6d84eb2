"""Citation groups: adjacent citations as one, the text around them (ILCiteR, 5.2), and how a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whycite.documents.model import Citation, Document, Reference, Sentence
from whycite.evidence.words import has_content_words, last_word
from whycite.text.tokens import fold
from whycite.text.wordlists import load_word_lists

__all__ = [
    "BARE_SIGN",
    "BRACKETED_SIGN",
    "MARK",
    "REPORTING_VERBS",
    "TEXTUAL_SIGN",
    "CitationGroup",
    "SplitSentence",
    "author_names",
    "cited_authors",
    "claiming_sentences",
    "is_noun",
    "join_texts",
    "mark_citations",
    "quote",
    "split_at_groups",
]

# Placeholders for markers: in round brackets, a name in the running text ("Doe et al., 2010"), anything else.
BRACKETED_SIGN, TEXTUAL_SIGN, BARE_SIGN = "\ufff9", "\ufffa", "\ufffb"
MARK = re.compile(f"[{BRACKETED_SIGN}{TEXTUAL_SIGN}{BARE_SIGN}]")
_SIGNS = str.maketrans(dict.fromkeys((BRACKETED_SIGN, TEXTUAL_SIGN, BARE_SIGN), " "))
_TO_BRACKETED = str.maketrans({TEXTUAL_SIGN: BRACKETED_SIGN, BARE_SIGN: BRACKETED_SIGN})
_TO_BARE = str.maketrans({TEXTUAL_SIGN: BARE_SIGN})


_SEPARATORS = " ,;/&+–—-"  # allowed between the citations of one group, besides "and" and "or"
_TAIL = 200  # characters before a marker in which the names of its authors may begin
_AND_OTHERS = re.compile(r"(?:,? et al\.?|,? (?:and|&) (?:(?:his|her|their) )?(?:colleagues|co-?workers))[’']?s?,?$")
_NAME = re.compile(r"[^\W\d_a-z][\w.’'-]*$")
_AND = re.compile(r"(?:,? (?:and|&)|,)$")
_POSSESSIVE = re.compile(r"\s*[’']s?(?=\s)")
_DATE = re.compile(r"\s*[(\[]|,?\s+(?=(?:1[89]|20)\d\d)")  # where the names in a marker end
_WORDS = load_word_lists(__name__)
REPORTING_VERBS = _WORDS["reporting_verbs"]
_CLOSING = frozenset(",;:.!?)]}%’”")
_AFTER_NOUN = re.compile(r" \(\d{4}\)(?:[,;]|,? (?:and|or|&)) \Z")  # "by Kaiser (1988) and " before another citation


@dataclass(frozen=True, slots=True)
class CitationGroup:
    """Adjacent citations: the references they point to, and their range in the source."""

    keys: tuple[str, ...]
    start: int
    end: int
    is_textual: bool  # part of the running text: "Doe et al. (2010) showed"
    in_brackets: bool  # in round brackets
    name: str = ""  # the authors where the sentence has a hole without them: "the scheme of Doe et al. [3] halves"
    leaves_hole: bool = False  # part of the grammar, so that the sentence is incomplete without it: "as shown by [3]"


@dataclass(frozen=True, slots=True)
class SplitSentence:
    """A sentence split at its groups: `texts[i]` comes before `groups[i]`, and one text after the last."""

    texts: tuple[str, ...]
    groups: tuple[CitationGroup, ...]


def split_at_groups(sentence: Sentence, document: Document) -> SplitSentence:
    """The sentence split at its citation groups, without markers and their brackets.

    Citations are adjacent when only brackets, the signs , ; / & + and dashes, "and" or "or" come between them; within
    one bracket also words that introduce a citation ("see", "e.g.", "reviewed in"), labels ("Figure 2") and unlinked
    markers. The names in front of a marker belong to it: "Doe et al. [3]".
    """
    texts: list[str] = []
    groups: list[CitationGroup] = []
    runs = list(_runs(sentence))
    for index, (text, signs, citations) in enumerate(runs):
        is_textual, in_brackets = TEXTUAL_SIGN in signs, BRACKETED_SIGN in signs
        if groups and (possessive := _POSSESSIVE.match(text)):
            text = text[possessive.end() :]
            if groups[-1].name:
                groups[-1] = replace(groups[-1], name=groups[-1].name + possessive[0].strip())
        if signs:
            is_noun = False
            shorter = text[: _names_start(text.rstrip(), citations, document)]
            name = " ".join(text[len(shorter) :].split()).rstrip(",")
            if name:
                text, is_textual = shorter, True
            elif is_textual:
                name = _join_names(_spoken_name(sentence, citation) for citation in citations)
            elif is_noun := _is_part_of_grammar(citations, in_brackets, text, runs[index + 1][0]):
                name = _join_names(cited_authors(citations, document))
            group = _group(citations, is_textual, in_brackets and not is_textual, name)
            groups.append(replace(group, leaves_hole=is_textual or is_noun))
        texts.append(" ".join(text.split()))
    return SplitSentence(tuple(texts), tuple(groups))


def _spoken_name(sentence: Sentence, citation: Citation) -> str:
    """The names in a marker: "Doe et al." of "Doe et al. (2010)"."""
    marker = sentence.text[citation.text_start : citation.text_end]
    return " ".join(_DATE.split(marker, maxsplit=1)[0].split()).rstrip(",")


def _is_part_of_grammar(citations: list[Citation], in_brackets: bool, lead: str, following: str) -> bool:
    """Whether the source says that the citation is a noun, or the words around it do."""
    return (not in_brackets and any(citation.textual for citation in citations)) or is_noun(lead, following)


def is_noun(lead: str, following: str) -> bool:
    """Whether a marker must be a noun: "proposed by [3]", "[3] showed that", "while [3] reported"."""
    word, following = last_word(lead.rstrip()), following.lstrip()
    if word in _WORDS["before_nouns"] and lead.rstrip()[-1:] not in _CLOSING - {"."}:
        return True
    goes_on = following[:1].islower()
    if not lead.strip() or word in _WORDS["before_clauses"]:
        return goes_on
    return lead.rstrip()[-1] in ",;" and following.partition(" ")[0] in REPORTING_VERBS


def cited_authors(citations: Iterable[Citation], document: Document) -> Iterator[str]:
    """The authors of each cited reference as a sentence names them."""
    for key in dict.fromkeys(key for citation in citations for key in citation.keys):
        reference = document.by_id.get(key)
        if reference and (names := author_names(reference)):
            yield names


def author_names(reference: Reference) -> str:
    """The authors of a reference as a sentence names them: "Doe", "Doe and Roe", "Doe et al."; "" if unknown."""
    families = [family for author in reference.authors if (family := _family(author))]
    return f"{families[0]} et al." if len(families) > 2 else " and ".join(families)


def _family(author: str) -> str:
    return " ".join(author.partition(",")[0].split())


def _join_names(names: Iterable[str]) -> str:
    names = list(dict.fromkeys(filter(None, names)))
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def join_texts(texts: Iterable[str]) -> str:
    """The texts around the groups joined, without the gaps and doubled signs that the groups leave behind."""
    parts: list[str] = []
    for text in texts:
        text = text.strip()
        while parts and text and parts[-1][-1] in "([" and text[0] in ")],;":
            if text[0] in ")]":
                _shorten(parts)
            text = text[1:].lstrip()
        if text[:1] in (",", ";", ":", ".", "!", "?", ")", "]"):
            while parts and parts[-1][-1] in ",;:":
                _shorten(parts)
            is_doubled = text[0] == "." or not (parts and parts[-1].endswith("et al."))  # "Doe et al., who"
            if parts and parts[-1][-1] in ".!?" and text[0] not in ")]" and is_doubled:
                text = text[1:].lstrip()
        if text:
            spaced = parts and text[0] not in _CLOSING and parts[-1][-1] not in "([{"
            parts.append(f" {text}" if spaced else text)
    return "".join(parts)


def _shorten(parts: list[str]) -> None:
    """Remove the last character and the white space before it."""
    parts[-1] = parts[-1][:-1].rstrip()
    if not parts[-1]:
        parts.pop()


def _runs(sentence: Sentence) -> Iterator[tuple[str, str, list[Citation]]]:
    """Each text with the signs and citations of the group after it; the last has none."""
    citations = iter(sorted(sentence.citations, key=lambda citation: citation.text_start))
    text = mark_citations(sentence)
    position = 0
    lead, signs = "", ""
    group: list[Citation] = []
    for sign in MARK.finditer(text):
        gap = text[position : sign.start()]
        if not signs or gap.strip(_SEPARATORS) not in ("", "and", "or"):
            if signs:
                yield lead, signs, group
            lead, signs, group = gap, "", []
        signs += sign[0]
        group.append(next(citations))
        position = sign.end()
    if signs:
        yield lead, signs, group
    yield text[position:], "", []


def _group(citations: list[Citation], is_textual: bool, in_brackets: bool, name: str) -> CitationGroup:
    linked = [citation for citation in citations if citation.keys] or citations
    return CitationGroup(
        keys=tuple(dict.fromkeys(key for citation in citations for key in citation.keys)),
        start=min(citation.start for citation in linked),
        end=max(citation.end for citation in linked),
        is_textual=is_textual,
        in_brackets=in_brackets,
        name=name,
    )


def _names_start(text: str, citations: list[Citation], document: Document) -> int:
    """Where cited authors' names at the end of the text begin ("as Doe, Roe and Poe"); its end if there are none."""
    low = max(0, len(text) - _TAIL)
    tail = text[low:]
    et_al = _AND_OTHERS.search(tail)
    name = _NAME.search(tail[: et_al.start()] if et_al else tail)
    if name is None:
        return len(text)
    families = _cited_families(citations, document)
    names_start = name.start() if et_al else len(tail)  # "et al." shows that it is a name, whoever it is
    while (
        start := _family_name_start(tail[:names_start].rstrip(), families, is_final=names_start == len(tail))
    ) is not None:
        names_start = start
    return low + names_start


def _family_name_start(text: str, families: frozenset[str], is_final: bool) -> int | None:
    """Where the family name at the end of the text begins; unless it is the final one, a comma or "and" follows it."""
    link = None if is_final else _AND.search(text)
    text = text[: link.start()] if link else text
    start = len(text)
    for _ in range(4):
        start = text.rfind(" ", 0, max(start, 0))
        name = fold(text[start + 1 :])
        if name.removesuffix("'s") in families:
            return start + 1
        if start < 0:
            break
    return None


def _cited_families(citations: list[Citation], document: Document) -> frozenset[str]:
    """The family names of the cited authors, folded for comparison."""
    references = (document.by_id.get(key) for citation in citations for key in citation.keys)
    authors = (author for reference in references if reference is not None for author in reference.authors)
    return frozenset(fold(author.partition(",")[0]) for author in authors) - {""}


_MAX_DEPTH = 8  # nested brackets that are followed
_MAX_BRACKET = 600  # characters; a longer bracket is prose that happens to cite
_MAX_LEAD_WORDS = 5  # in a bracket before its first citation: "(ALC: Doe, 2012)"

_BRACKET = re.compile(r"([()\[\]])")
_WORD = re.compile(r"[^\W_]+")
_ITEM = re.compile(r"[;,]")
# A marker the reader did not link, among others in a bracket: "(Ikeda and Bekkers, 2006; …".
_AUTHOR_YEAR = re.compile(
    r"""(?:(?:[^\W\d_a-z][\w'’-]*\.?|and|&|et|al\.?|van|von|de|der|den|di|da|la|le|du|dos|del),?\s+){1,8}
        (?:1[89]|20)\d\d[a-z]?\b(?:,\s?(?:[a-z]|(?:1[89]|20)\d\d[a-z]?)\b)*""",
    re.VERBOSE,
)
_LABELS = re.compile(
    r"""(?:see|in|and|e\.g\.|also|supplementary|supplemental|extended|copy|archived|at|\s)*
        (?:fig(?:s|ures?)?\b|tables?\b|videos?\b|movies?\b|suppl|appendix|sec(?:tions?|s)?\b|§|chap(?:ters?)?\b|ch\b
         |theorems?\b|thm\b|lemmas?\b|prop(?:ositions?)?\b|def(?:initions?)?\b|cor(?:ollary)?\b|eqs?\b|equations?\b|pp?\b
         |pages?\b|slides?\b|materials|methods\b|data\b|source\b|left\b|right\b|top\b|bottom\b|middle\b|panels?\b|version\b
         |https?:|[\w-]+\.(?:org|com|net|edu|gov|io|ai)\b|ftp:|www\.|rrid|swh:|doi:|pdb\b|github|[A-Z]?[\d–-]+[A-Za-z]?$|[A-Z]$)""",
    re.VERBOSE | re.IGNORECASE,
)


def mark_citations(sentence: Sentence) -> str:
    """The text with one sign per citation, in order, and without the brackets that held nothing else.

    Anything else in such a bracket comes after the sign: "CATMAID (RRID: 6; Doe, 2009)" becomes "CATMAID * (RRID: 6)".
    A bracket with prose of its own stays: "tools (BLAST, Doe, 1990; and HMMER, Roe, 1998)".
    """
    stack: list[tuple[str, list[str]]] = [("", [])]
    for token in _BRACKET.split(_with_signs(sentence)):
        buffer = stack[-1][1]
        if token in ("(", "[") and len(stack) <= _MAX_DEPTH:
            stack.append((token, []))
        elif token not in (")", "]"):
            buffer.append(token)
        elif len(stack) > 1:
            opening, content = stack.pop()
            stack[-1][1].append(_bracket(opening, "".join(content), token))
        elif not MARK.match(buffer[-1].rstrip()[-1:]):  # otherwise it is left over from the marker's own bracket
            buffer.append(token)
    while len(stack) > 1:
        opening, parts = stack.pop()
        stack[-1][1].append(_unclosed(opening, "".join(parts)))
    return "".join(stack[0][1])


def _with_signs(sentence: Sentence) -> str:
    parts, position = [], 0
    for citation in sorted(sentence.citations, key=lambda citation: citation.text_start):
        start = min(max(citation.text_start, position), len(sentence.text))
        end = min(max(citation.text_end, start), len(sentence.text))
        parts += [sentence.text[position:start].translate(_SIGNS), _sign(sentence.text[start:end].strip())]
        position = end
    return "".join([*parts, sentence.text[position:].translate(_SIGNS)])


def _sign(marker: str) -> str:
    """The sign for a marker, with any bracket that is not part of a name: "Doe (2010)" has none."""
    opening = marker[:1] if marker[:1] in ("(", "[") else ""
    inner = marker[len(opening) :]
    spare = inner.count(")") + inner.count("]") > inner.count("(") + inner.count("[")
    closing = inner[-1:] if spare and inner[-1:] in (")", "]") else ""
    is_textual = not opening and marker[:1].isalpha() and marker[1:2].isalpha()
    return f"{opening}{TEXTUAL_SIGN if is_textual else BARE_SIGN}{closing}"


def _bracket(opening: str, content: str, closing: str) -> str:
    sign = MARK.search(content)
    if sign is None:
        return f"{opening}{content}{closing}"
    content = content.translate(_TO_BRACKETED if opening == "(" else _TO_BARE)
    if len(content) > _MAX_BRACKET:
        return f"{opening}{content}{closing}"
    gaps = [_AUTHOR_YEAR.sub(" ", gap) for gap in MARK.split(content)]
    last_index = len(gaps) - 1
    kinds = [_gap_kind(gap, is_leading=index == 0, is_trailing=index == last_index) for index, gap in enumerate(gaps)]
    if "text" in kinds:
        begin = sign.start() if kinds[0] == "link" else 0  # "(see Doe, 2010, for a proof of this)"
        return f"{opening}{content[begin:]}{closing}"
    asides = [
        " ".join(_without_links(gap)).strip(" ,;:.") for gap, kind in zip(gaps, kinds, strict=True) if kind == "aside"
    ]
    rest = f"{opening}{'; '.join(asides)}{closing}" if asides else ""
    return f" {''.join(MARK.findall(content))} {rest}"


def _unclosed(opening: str, content: str) -> str:
    """An unclosed bracket; dropped if it was opened for a marker."""
    sign = MARK.search(content)
    if sign and sign.start() < _MAX_BRACKET and _is_link(content[: sign.start()]):
        return f" {content[sign.start() :]}"
    return f"{opening}{content}"


def _gap_kind(gap: str, is_leading: bool, is_trailing: bool) -> str:
    """What the text between two signs in a bracket is: a "link", an "aside" that belongs elsewhere, or "text"."""
    if _is_link(gap):
        return "link"
    if is_trailing and gap.lstrip()[:1] in (";", "."):
        return "aside"
    if all(_is_link(item) or _LABELS.match(item.lstrip()) for item in _ITEM.split(gap)):
        return "aside"
    words = _without_links(gap)
    if is_leading and words and words[-1][-1] in ";,:" and len(words) <= _MAX_LEAD_WORDS:
        return "aside"  # "lobe commissure (ALC: Doe, 2012)"
    return "text"


def _without_links(gap: str) -> list[str]:
    """The words before those that introduce a citation: "Theorem 3 of", "Figure 1; reviewed in"."""
    words = gap.split()
    while words and _is_link(words[-1]):
        words.pop()
    return words


def _is_link(text: str) -> bool:
    return all(word.lower() in _WORDS["links"] for word in _WORD.findall(text))


_MIN_CLAIM_WORDS = 3  # content words that make a footnote a claim of its own; "See Doe for a review" is none


def claiming_sentences(document: Document) -> Sequence[Sentence]:
    """The document's sentences, the citations of bare footnotes ("See Doe, 2010.") in the sentences they are for."""
    carried = {(s.file, c.start) for s in document.sentences for c in s.note_citations}
    if not carried:
        return document.sentences
    bare = {
        (sentence.file, citation.start)
        for sentence in document.sentences
        if sentence.kind == "footnote" and not has_content_words(sentence.without_citations(), enough=_MIN_CLAIM_WORDS)
        for citation in sentence.citations
    }
    return [_move_citations(sentence, carried & bare) for sentence in document.sentences]


def _move_citations(sentence: Sentence, moved: set[tuple[str, int]]) -> Sentence:
    """A sentence with the moved citations of its footnotes; a footnote without those that moved."""
    incoming = [citation for citation in sentence.note_citations if (sentence.file, citation.start) in moved]
    if not incoming and sentence.kind != "footnote":
        return sentence
    staying = [citation for citation in sentence.citations if (sentence.file, citation.start) not in moved]
    citations = sorted([*staying, *incoming], key=lambda citation: citation.text_start)
    return replace(sentence, citations=tuple(citations))


def quote(sentence: Sentence, references: Mapping[str, Reference]) -> str:
    """The sentence with its citations as a reader sees them: keys of the source become authors and year, if known."""
    text, offset = "", 0
    for citation in sorted(sentence.citations, key=lambda citation: citation.text_start):
        text += sentence.text[offset : citation.text_start]
        marker = sentence.text[citation.text_start : citation.text_end]
        text += _spell_out(marker, citation, references, text, sentence.text[citation.text_end :])
        offset = max(offset, citation.text_end)
    return text + sentence.text[offset:]


def _spell_out(marker: str, citation: Citation, references: Mapping[str, Reference], lead: str, following: str) -> str:
    """A marker with authors and year instead of keys, which readers of sources put into square brackets."""
    if not marker.startswith("[") or not (keys := [key for key in citation.keys if _is_word(key)]):
        return marker
    cited = {
        key: (names, reference.year)
        for key in keys
        if (reference := references.get(key)) and (names := author_names(reference))
    }
    pattern = re.compile(rf"(?<![\w:.-])(?:{'|'.join(map(re.escape, sorted(keys, key=len, reverse=True)))})(?![\w:-])")
    if cited.keys().isdisjoint(pattern.findall(marker)):
        return marker
    in_brackets = lead.rfind("(") > lead.rfind(")") or lead.endswith("[")
    # Plain commands are also used where the sentence needs a noun: "as shown by \cite{kaiser1988}".
    textual = citation.textual or (
        not in_brackets and (is_noun(lead, following) or _AFTER_NOUN.search(lead) is not None)
    )

    def label(match: re.Match[str]) -> str:
        if match[0] not in cited:
            return match[0]
        names, year = cited[match[0]]
        if textual:
            return f"{names} ({year})" if year else names
        if len(keys) == 1 and year and lead.rstrip().endswith(names):  # "Kaiser [kaiser1988]"
            return str(year)
        return f"{names} {year}" if year else names

    content = pattern.sub(label, marker.removeprefix("[").removesuffix("]"))
    if textual:
        items = content.split("; ")
        return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
    return content if in_brackets else f"({content})"


def _is_word(key: str) -> bool:
    """Whether a key is no mere number, which may be the marker itself."""
    return any(map(str.isalpha, key))
