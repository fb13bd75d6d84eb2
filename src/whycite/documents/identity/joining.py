"""Which papers of a table are one, by shared identifiers and titles; the rules are told in `identity`."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from whycite.documents.identity.forest import HEAD, LONG, PREPRINT, Forest, Rank, Table
from whycite.documents.identity.matching import same_family

__all__ = ["join"]

_YEARS, _PREPRINT_YEARS = 1, 5
_SERIES = 4  # a title that comes back in so many years is not one paper
_LARGEST = 64  # papers compared pair by pair; a title that more of them bear tells none of them
_FACTS = 8  # forms of author and year kept of one paper under one title


class _Fact(NamedTuple):
    """One form in which a paper was referred to under a title."""

    year: int
    author: str
    preprint: bool


class _Block(NamedTuple):
    """The papers that bear a title, and those whose title goes on after a colon (paper, fact, whole title)."""

    long: bool
    facts: dict[int, list[_Fact]]
    longer: list[tuple[int, _Fact, int]]


def join(table: Table) -> array[int]:
    """For each key of the table one key that stands for its paper: the same for all that are one."""
    forest = Forest(table)
    for papers, titles in _id_blocks(table):
        _join_ids(forest, papers, titles)
    for block in _title_blocks(table):
        for part in _comparable(block):
            _join_titles(forest, part)
        _join_cut(forest, block)
    return array("I", map(forest.find, range(len(table))))


def _runs(digests: array[int]) -> Iterator[list[int]]:
    """The rows of each digest that stands on more than one row, in the order of the digests."""
    packed = [digest << 32 | row for row, digest in enumerate(digests)]
    packed.sort()
    run: list[int] = []
    last = -1
    for item in packed:
        if item >> 32 != last:
            if len(run) > 1:
                yield run
            run, last = [], item >> 32
        run.append(item & 0xFFFFFFFF)
    if len(run) > 1:
        yield run


def _id_blocks(table: Table) -> Iterator[tuple[list[int], dict[int, set[int]]]]:
    """The papers, best first, of each identifier that several give, and the titles of all such papers."""
    blocks = [{table.id_paper[row] for row in rows} for rows in _runs(table.id_digest)]
    blocks = [papers for papers in blocks if len(papers) > 1]
    titles: dict[int, set[int]] = {paper: set() for papers in blocks for paper in papers}
    for paper, digest, flags in zip(table.title_paper, table.title_digest, table.title_flags, strict=True):
        if paper in titles and not flags & HEAD:
            titles[paper].add(digest)
    for papers in blocks:
        yield sorted(papers, key=lambda paper: (table.rank[paper], table.digest[paper])), titles


def _join_ids(forest: Forest, papers: list[int], titles: dict[int, set[int]]) -> None:
    by_title: dict[int, int] = {}
    for paper in papers:
        for title in titles[paper]:
            forest.union(by_title.setdefault(title, paper), paper)
    published = {forest.find(paper) for paper in papers if forest.table.rank[paper] == Rank.DOI}
    if len(published) > 1:
        return  # they disagree on the title: nobody knows whose the identifier is
    for paper in papers:
        forest.union(papers[0], paper)


def _title_blocks(table: Table) -> Iterator[_Block]:
    for rows in _runs(table.title_digest):
        if len({table.title_paper[row] for row in rows}) == 1:
            continue
        facts: defaultdict[int, set[_Fact]] = defaultdict(set)
        longer, long = [], True
        for row in rows:
            paper, flags = table.title_paper[row], table.title_flags[row]
            fact = _Fact(table.title_year[row], table.names[table.title_author[row]], bool(flags & PREPRINT))
            if flags & HEAD:
                longer.append((paper, fact, table.title_digest[row - 1]))
            else:
                facts[paper].add(fact)
                long = long and bool(flags & LONG)
        ordered = sorted(facts, key=table.digest.__getitem__)
        yield _Block(long, {paper: sorted(facts[paper])[:_FACTS] for paper in ordered}, longer)


def _comparable(block: _Block) -> Iterator[_Block]:
    """The block, or its parts by author where there are too many, or too short a title, to compare all."""
    if block.long and len(block.facts) <= _LARGEST:
        yield block
        return
    parts: defaultdict[str, dict[int, list[_Fact]]] = defaultdict(dict)
    for paper, facts in block.facts.items():
        for fact in facts:
            for word in fact.author.split():
                parts[word].setdefault(paper, []).append(fact)
    for _, part in sorted(parts.items()):
        if 1 < len(part) <= _LARGEST:
            yield block._replace(facts=part)


def _join_titles(forest: Forest, block: _Block) -> None:
    joins = []
    for one, other in combinations(block.facts, 2):
        distance = _distance(block, one, other)
        if distance is not None:
            joins.append((_is_titled(forest, one, other), distance, forest.weight(one, other), one, other))
    years = {fact.year for paper, facts in block.facts.items() if _is_titled(forest, paper) for fact in facts}
    series = len(years - {0}) >= _SERIES
    for titled, (_, gap, limit), _, one, other in sorted(joins):
        if titled and ((series and gap) or not forest.same_time(one, other, limit)):
            continue
        forest.union_unless_apart(one, other)
    _join_undated(forest, block)


def _distance(block: _Block, one: int, other: int) -> tuple[bool, int, int] | None:
    """How far two papers with one title are: unlike first authors, years between, years allowed; None: too far."""
    best = None
    for ours in block.facts[one]:
        for theirs in block.facts[other]:
            gap = abs(ours.year - theirs.year)
            limit = _PREPRINT_YEARS if ours.preprint or theirs.preprint else _YEARS
            if not ours.year or not theirs.year or gap > limit:
                continue
            stranger = not (ours.author and theirs.author and same_family(ours.author, theirs.author))
            if stranger and (gap or not block.long):
                continue
            best = min(best or (True, limit, limit), (stranger, gap, limit))
    return best


def _join_undated(forest: Forest, block: _Block) -> None:
    """Give a paper without year to the only one that bears its title and author."""
    dated = {paper: facts for paper, facts in block.facts.items() if any(fact.year for fact in facts)}
    for paper, facts in block.facts.items():
        if paper not in dated:
            roots = {forest.find(other) for other, known in dated.items() if _may_share(facts, known, block)}
            if len(roots) == 1:
                forest.union_unless_apart(roots.pop(), paper)


def _may_share(facts: Sequence[_Fact], others: Iterable[_Fact], block: _Block) -> bool:
    """Whether the first author may be the same; one that is not known may be any, if the title is long."""
    ours, theirs = ([fact.author for fact in side if fact.author] for side in (facts, others))
    if not ours or not theirs:
        return block.long
    return any(same_family(one, other) for one in ours for other in theirs)


def _join_cut(forest: Forest, block: _Block) -> None:
    """Join a title with the only one of its author and year that goes on after a colon."""
    if not block.facts or not block.longer or len(block.facts) + len(block.longer) > _LARGEST:
        return
    for paper, facts in block.facts.items():
        known = [fact for fact in facts if fact.author and fact.year]
        by_author = [
            (other, fact, title)
            for other, fact, title in block.longer
            if any(same_family(ours.author, fact.author) for ours in known)
        ]
        if len({title for _, _, title in by_author}) != 1:
            continue  # none, or parts of a series
        years = {fact.year for fact in known}
        same_year = {other for other, fact, _ in by_author if fact.year in years}
        for other in sorted(same_year, key=forest.table.digest.__getitem__):
            if _is_titled(forest, paper, other) and not forest.same_time(paper, other, _YEARS):
                continue
            forest.union_unless_apart(paper, other)


def _is_titled(forest: Forest, *papers: int) -> bool:
    """Whether nothing but their titles tells these papers."""
    return all(forest.table.rank[paper] == Rank.TITLE for paper in papers)
