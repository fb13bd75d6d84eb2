"""Certain rules: what needs a citation, and what never does, whatever the worthiness model says."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from whycite.check.draftfiles import DraftFiles
from whycite.check.findings import CITATION_RULES
from whycite.check.mentions import BibliographyMentions
from whycite.check.paragraphs import heading_paths
from whycite.check.wordings import (
    appeals_to_knowledge,
    gives_statistic,
    gives_thanks,
    is_own_publication_heading,
    is_url_only,
    lists_own_publications,
    looks_like_caption,
    looks_like_heading,
    outlines_draft,
    reports_previous_work,
    says_where_available,
    starts_block_quote,
    states_limitation,
    states_own_result,
)
from whycite.documents.model import Document, Sentence
from whycite.errors import UserError

__all__ = ["RULES", "RULE_IDS", "Rule", "RuleDecision", "Rulebook", "check_rule_ids", "rule_meaning"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, or the clause of it that is left without a citation, as rules see it."""

    text: str
    sentence: Sentence
    index: int
    section_type: str | None
    headings: tuple[str, ...]
    is_alone: bool  # in its paragraph
    follows_citation: bool  # the sentence before it in its paragraph cites
    following: str  # the source after the sentence
    mentions: BibliographyMentions


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; `meaning` completes "The sentence …"."""

    id: str
    direction: Literal["needs", "exempt"]
    meaning: str
    worthiness: float  # of a sentence that it decides
    applies: Callable[[Statement], bool]


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """The rule that decides about a sentence, and the clause if it decides only about a part."""

    rule: Rule
    clause: str = ""


# Sections that the model leaves out unless the rule that exempts them is ignored.
_SECTION_TYPES = {"abstract": {"abstract"}, "acknowledgement": {"acknowledgement", "declaration"}}


def _exempt(id: str, meaning: str, applies: Callable[[Statement], bool]) -> Rule:
    return Rule(id, "exempt", meaning, 0.0, applies)


def _needs(id: str, worthiness: float, meaning: str, applies: Callable[[Statement], bool]) -> Rule:
    return Rule(id, "needs", meaning, worthiness, applies)


def _is_caption(statement: Statement) -> bool:
    return statement.sentence.kind in ("caption", "table") or looks_like_caption(statement.text)


def _is_heading(statement: Statement) -> bool:
    return statement.sentence.kind == "heading" or (statement.is_alone and looks_like_heading(statement.text))


def _is_acknowledgement(statement: Statement) -> bool:
    return statement.section_type in _SECTION_TYPES["acknowledgement"] or gives_thanks(statement.text)


def _lists_own_publications(statement: Statement) -> bool:
    return lists_own_publications(statement.text) or any(map(is_own_publication_heading, statement.headings))


def _introduces_quote(statement: Statement) -> bool:
    return statement.text.endswith(":") and starts_block_quote(statement.following)


def _names_author(statement: Statement) -> bool:
    return statement.mentions.names_author(statement.text, statement.index, statement.sentence)


def _names_entry(statement: Statement) -> bool:
    return statement.mentions.names_entry(statement.text, statement.index, statement.sentence)


_BACKGROUND_TYPES = frozenset({"introduction", "related work"})


def _gives_statistic(statement: Statement) -> bool:
    """Statistics of others stand where a draft introduces its topic; a citation covers the next sentence as well."""
    is_covered = statement.sentence.cites or statement.follows_citation
    return statement.section_type in _BACKGROUND_TYPES and not is_covered and gives_statistic(statement.text)


def _appeals_to_knowledge(statement: Statement) -> bool:
    return not statement.sentence.cites and appeals_to_knowledge(statement.text)


# In the order in which they decide: the place of a sentence comes first; "We confirm what Kaiser (1988) found" then
# needs a citation although it is an own result, and "Section 2 reviews previous work" none although it names such work.
RULES: tuple[Rule, ...] = (
    _exempt("caption", "is a caption or stands in a table", _is_caption),
    _exempt("heading", "is a heading", _is_heading),
    _exempt("abstract", "is in the abstract", lambda statement: statement.section_type == "abstract"),
    _exempt("acknowledgement", "is an acknowledgement or a declaration", _is_acknowledgement),
    _exempt("own-publications", "is in a list of your own publications", _lists_own_publications),
    _exempt("url", "is only a URL", lambda statement: is_url_only(statement.text)),
    _exempt("quote-lead-in", "introduces a block quotation", _introduces_quote),
    _needs("named-author", 0.9, "names an author without citing the work", _names_author),
    _exempt("outline", "says what a part of the draft contains", lambda statement: outlines_draft(statement.text)),
    _needs("previous-work", 0.8, "reports earlier work", lambda statement: reports_previous_work(statement.text)),
    _needs("named-entry", 0.8, "is the first to name a work in your bibliography", _names_entry),
    _exempt(
        "availability",
        "says where code, data or material is available, or gives a URL in brackets",
        lambda statement: says_where_available(statement.text),
    ),
    _exempt("own-result", "states a result of your own", lambda statement: states_own_result(statement.text)),
    _exempt(
        "limitation",
        "states a limit or a strength of your own work",
        lambda statement: states_limitation(statement.text),
    ),
    _needs("statistic", 0.75, "gives a statistic without a source", _gives_statistic),
    _needs("common-knowledge", 0.75, "says that something is known without saying from where", _appeals_to_knowledge),
)
_BY_ID = {rule.id: rule for rule in RULES}
RULE_IDS = (*_BY_ID, *CITATION_RULES)  # that can be ignored


def rule_meaning(id: str) -> str:
    """What a rule says of a sentence."""
    return _BY_ID[id].meaning


def check_rule_ids(ids: Iterable[str]) -> None:
    """Refuse ids that no rule has."""
    if unknown := sorted(set(ids) - set(RULE_IDS)):
        raise UserError(f"unknown rule '{unknown[0]}'; choose one of: {', '.join(RULE_IDS)}")


# -- decisions -----------------------------------------------------------------

_FOLLOWING = 200  # characters of the source in which a block quotation may begin
# Where a clause begins that an earlier citation does not cover; "and that …" still belongs to what was cited.
_CLAUSE = re.compile(
    r"(?:;|,? (?:and|but|whereas|while|although|though|yet)\b|[,;] however,?)\s+"
    r"(?!(?:that|which|who|whose|thus|hence|so)\b)"
)


class Rulebook:
    """Decides sentences of one draft by rule, without the rules in `ignored` and those that its comments ignore."""

    def __init__(self, document: Document, files: DraftFiles, ignored: Collection[str] = ()) -> None:
        self._document = document
        self._files = files
        self._ignored = frozenset(ignored)
        self._mentions = BibliographyMentions(document)
        self._headings = heading_paths(document.sections)

    def extra_types(self) -> set[str]:
        """The section types that the model must judge as well: some rule that exempts them is ignored."""
        ignored = self._ignored | {rule for rule, _, _ in self._files.rule_places()}
        return {type for rule in ignored for type in _SECTION_TYPES.get(rule, ())}

    def warnings(self) -> tuple[str, ...]:
        """A warning about each unknown rule that comments of the draft name."""
        places: dict[str, str] = {}
        for rule, file, line in self._files.rule_places():
            if rule not in RULE_IDS:
                places.setdefault(rule, f"{file}:{line}")
        return tuple(
            f"{place}: a comment ignores the unknown rule '{rule}'; the rules are: {', '.join(RULE_IDS)}"
            for rule, place in places.items()
        )

    def decide(self, index: int, sentence: Sentence | None = None) -> RuleDecision | None:
        """The first rule that applies to a sentence; of one that cites, to the clauses after its last citation.

        `sentence` is judged in its place if given, for example without its citations.
        """
        sentence = sentence or self._document.sentences[index]
        if not sentence.cites:
            return self._first(self._statement(" ".join(sentence.text.split()), sentence, index), "")
        clause = _uncited_clause(sentence)
        decision = self._first(self._statement(clause, sentence, index), clause) if clause else None
        return decision if decision and decision.rule.direction == "needs" else None

    def _first(self, statement: Statement, clause: str) -> RuleDecision | None:
        file = self._files.file_of(statement.sentence)
        ignored = self._ignored | file.ignored_rules(statement.sentence.start, statement.sentence.end)
        rules = (rule for rule in RULES if rule.id not in ignored and statement.text and rule.applies(statement))
        return next((RuleDecision(rule, clause) for rule in rules), None)

    def _statement(self, text: str, sentence: Sentence, index: int) -> Statement:
        sentences, has_section = self._document.sentences, sentence.section < len(self._document.sections)
        return Statement(
            text=text,
            sentence=sentence,
            index=index,
            section_type=self._document.sections[sentence.section].type if has_section else None,
            headings=self._headings[sentence.section] if has_section else (),
            is_alone=all(
                sentences[place].paragraph != sentence.paragraph
                for place in (index - 1, index + 1)
                if 0 <= place < len(sentences)
            ),
            follows_citation=index > 0
            and sentences[index - 1].paragraph == sentence.paragraph
            and sentences[index - 1].cites,
            following=self._files.file_of(sentence).text_after(sentence.end, _FOLLOWING),
            mentions=self._mentions,
        )


def _uncited_clause(sentence: Sentence) -> str:
    """The clauses after the last citation's own; empty if there are none."""
    last_citation = max(citation.text_end for citation in (*sentence.citations, *sentence.note_citations))
    boundary = _CLAUSE.search(sentence.text, last_citation)
    return " ".join(sentence.text[boundary.end() :].split()) if boundary else ""
