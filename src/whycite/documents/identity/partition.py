"""Which keys of a table mean the same paper, by shared identifiers and titles; `identity` states the rules."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import combinations
from typing import NamedTuple

from whycite.documents.identity.identifiers import same_family

__all__ = ["HEAD", "LONG", "PREPRINT", "Forest", "KeyRank", "KeyTable", "join"]


# Flags of a title row. HEAD: a title cut off at its colon; the full one is in the row before.
LONG, PREPRINT, HEAD = 1, 2, 4


class KeyRank(IntEnum):
    """What a paper's key is made of, best first."""

    DOI = 0
    PREPRINT_DOI = 1
    ARXIV = 2
    PMID = 3
    TITLE = 4


class KeyTable:
    """What is known about each key, in arrays: ten million must fit in memory."""

    def __init__(self) -> None:
        # One row per key.
        self.rank = array("B")
        self.digest = array("Q")  # hash of the key
        self.count = array("I")  # references that have it
        self.first_reference = array("Q")  # the first of them
        self.pmid = array("I")  # one given with it, or 0
        self.arxiv = array("Q")  # hash of one given with it, or 0
        # One row per other identifier given with a key.
        self.id_digest = array("Q")
        self.id_paper = array("I")
        # One row per form of title, author and year given with a key.
        self.title_digest = array("Q")
        self.title_paper = array("I")
        self.title_author = array("I")  # index into names
        self.title_year = array("H")  # 0: unknown
        self.title_flags = array("B")
        self.names: list[str] = []

    def __len__(self) -> int:
        return len(self.rank)

    def add_key(self, rank: KeyRank, digest: int, first_reference: int) -> int:
        """Add a row for a key and return its number."""
        self.rank.append(rank)
        self.digest.append(digest)
        self.count.append(0)
        self.first_reference.append(first_reference)
        self.pmid.append(0)
        self.arxiv.append(0)
        return len(self.rank) - 1

    def add_id(self, digest: int, paper: int) -> None:
        self.id_digest.append(digest)
        self.id_paper.append(paper)

    def add_title(self, digest: int, paper: int, author: int, year: int, flags: int) -> None:
        self.title_digest.append(digest)
        self.title_paper.append(paper)
        self.title_author.append(author)
        self.title_year.append(year)
        self.title_flags.append(flags)


class Forest:
    """Union-find that keeps, for every tree, the identifiers that separate it from others, and its years."""

    def __init__(self, table: KeyTable) -> None:
        self.table = table
        self._parent = array("I", range(len(table)))
        self._published = array("B", (rank == KeyRank.DOI for rank in table.rank))
        self._identified = array("B", (rank != KeyRank.TITLE for rank in table.rank))
        # A preprint may have a PMID besides that of the published paper.
        preprints = (KeyRank.PREPRINT_DOI, KeyRank.ARXIV)
        ranked = zip(table.rank, table.pmid, strict=True)
        self._pmid = array("I", (0 if rank in preprints else pmid for rank, pmid in ranked))
        self._arxiv = table.arxiv[:]
        self._first_year = array("H", bytes(2 * len(table)))
        for paper, year in zip(table.title_paper, table.title_year, strict=True):
            self._first_year[paper] = year  # only used for papers identified by title, where it is part of the key
        self._last_year = self._first_year[:]

    def find(self, paper: int) -> int:
        """The root of a paper's tree."""
        parent = self._parent
        while parent[paper] != paper:
            parent[paper] = parent[parent[paper]]
            paper = parent[paper]
        return paper

    def union(self, paper: int, twin: int) -> None:
        """Join two papers."""
        paper, twin = self.find(paper), self.find(twin)
        if paper == twin:
            return
        self._parent[twin] = paper
        self._published[paper] |= self._published[twin]
        self._identified[paper] |= self._identified[twin]
        self._first_year[paper] = _smaller(self._first_year[paper], self._first_year[twin])
        self._last_year[paper] = max(self._last_year[paper], self._last_year[twin])
        # If identifiers disagree, the smaller one counts, whichever came first.
        self._pmid[paper] = _smaller(self._pmid[paper], self._pmid[twin])
        self._arxiv[paper] = _smaller(self._arxiv[paper], self._arxiv[twin])

    def union_unless_apart(self, paper: int, twin: int) -> None:
        """Join two papers unless their identifiers keep them apart."""
        paper, twin = self.find(paper), self.find(twin)
        if (
            not (self._published[paper] and self._published[twin])
            and _agree(self._pmid[paper], self._pmid[twin])
            and _agree(self._arxiv[paper], self._arxiv[twin])
        ):
            self.union(paper, twin)

    def within_years(self, paper: int, twin: int, limit: int) -> bool:
        """Whether neither has an identifier and their years together span at most `limit`."""
        paper, twin = self.find(paper), self.find(twin)
        if self._identified[paper] or self._identified[twin]:
            return False
        first_year = _smaller(self._first_year[paper], self._first_year[twin])
        return max(self._last_year[paper], self._last_year[twin]) - first_year <= limit

    def weight(self, paper: int, twin: int) -> tuple[int, int, int]:
        """The order of equally good joins: more references first, then the hashes of the keys."""
        low, high = sorted((self.table.digest[paper], self.table.digest[twin]))
        return -(self.table.count[paper] + self.table.count[twin]), low, high


def _agree(id_a: int, id_b: int) -> bool:
    return not id_a or not id_b or id_a == id_b


def _smaller(number_a: int, number_b: int) -> int:
    return min(number_a, number_b) if number_a and number_b else number_a or number_b


_MAX_YEARS, _MAX_PREPRINT_YEARS = 1, 5  # between two versions of one paper; more if one is a preprint
_SERIES_YEARS = 4  # a title used in this many years is a series, not one paper
_MAX_COMPARED = 64  # papers compared pairwise; a title that more papers share identifies none of them
_MAX_FORMS = 8  # forms of author and year kept per paper and title


class _TitleForm(NamedTuple):
    """One way in which references give the year and author of a paper with a title."""

    year: int
    author: str
    preprint: bool


class _TitleBlock(NamedTuple):
    """The papers with a title, and those whose title continues after a colon (paper, form, full title)."""

    long: bool
    forms: dict[int, list[_TitleForm]]
    longer: list[tuple[int, _TitleForm, int]]


def join(table: KeyTable) -> array[int]:
    """For each key of the table, one key that represents its paper."""
    forest = Forest(table)
    for papers, titles in _id_blocks(table):
        _join_ids(forest, papers, titles)
    for block in _title_blocks(table):
        for part in _comparable(block):
            _join_titles(forest, part)
        _join_cut(forest, block)
    return array("I", map(forest.find, range(len(table))))


def _runs(digests: array[int]) -> Iterator[list[int]]:
    """The rows of each digest that occurs more than once, in order of the digests."""
    packed = [digest << 32 | row for row, digest in enumerate(digests)]
    packed.sort()
    run: list[int] = []
    previous = -1
    for item in packed:
        if item >> 32 != previous:
            if len(run) > 1:
                yield run
            run, previous = [], item >> 32
        run.append(item & 0xFFFFFFFF)
    if len(run) > 1:
        yield run


def _id_blocks(table: KeyTable) -> Iterator[tuple[list[int], dict[int, set[int]]]]:
    """The papers, best first, that share an identifier, and the titles of all such papers."""
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
    published = {forest.find(paper) for paper in papers if forest.table.rank[paper] == KeyRank.DOI}
    if len(published) > 1:
        return  # they disagree on the title, so it is unclear whose identifier it is
    for paper in papers:
        forest.union(papers[0], paper)


def _title_blocks(table: KeyTable) -> Iterator[_TitleBlock]:
    for rows in _runs(table.title_digest):
        if len({table.title_paper[row] for row in rows}) == 1:
            continue
        forms: defaultdict[int, set[_TitleForm]] = defaultdict(set)
        longer, long = [], True
        for row in rows:
            paper, flags = table.title_paper[row], table.title_flags[row]
            form = _TitleForm(table.title_year[row], table.names[table.title_author[row]], bool(flags & PREPRINT))
            if flags & HEAD:
                longer.append((paper, form, table.title_digest[row - 1]))
            else:
                forms[paper].add(form)
                long = long and bool(flags & LONG)
        ordered = sorted(forms, key=table.digest.__getitem__)
        yield _TitleBlock(long, {paper: sorted(forms[paper])[:_MAX_FORMS] for paper in ordered}, longer)


def _comparable(block: _TitleBlock) -> Iterator[_TitleBlock]:
    """The block, or its parts by author if there are too many papers or the title is too short to compare all."""
    if block.long and len(block.forms) <= _MAX_COMPARED:
        yield block
        return
    parts: defaultdict[str, dict[int, list[_TitleForm]]] = defaultdict(dict)
    for paper, forms in block.forms.items():
        for form in forms:
            for word in form.author.split():
                parts[word].setdefault(paper, []).append(form)
    for _, part in sorted(parts.items()):
        if 1 < len(part) <= _MAX_COMPARED:
            yield block._replace(forms=part)


def _join_titles(forest: Forest, block: _TitleBlock) -> None:
    joins = []
    for paper, twin in combinations(block.forms, 2):
        distance = _distance(block, paper, twin)
        if distance is not None:
            joins.append((_is_titled(forest, paper, twin), distance, forest.weight(paper, twin), paper, twin))
    years = {form.year for paper, forms in block.forms.items() if _is_titled(forest, paper) for form in forms}
    series = len(years - {0}) >= _SERIES_YEARS
    for titled, (_, gap, limit), _, paper, twin in sorted(joins):
        if titled and ((series and gap) or not forest.within_years(paper, twin, limit)):
            continue
        forest.union_unless_apart(paper, twin)
    _join_undated(forest, block)


def _distance(block: _TitleBlock, paper: int, twin: int) -> tuple[bool, int, int] | None:
    """How far apart two papers with one title are: different authors, years between, years allowed; None if too far."""
    best = None
    for form in block.forms[paper]:
        for twin_form in block.forms[twin]:
            gap = abs(form.year - twin_form.year)
            limit = _MAX_PREPRINT_YEARS if form.preprint or twin_form.preprint else _MAX_YEARS
            if not form.year or not twin_form.year or gap > limit:
                continue
            stranger = not (form.author and twin_form.author and same_family(form.author, twin_form.author))
            if stranger and (gap or not block.long):
                continue
            best = min(best or (True, limit, limit), (stranger, gap, limit))
    return best


def _join_undated(forest: Forest, block: _TitleBlock) -> None:
    """Join a paper without a year to the only one with its title and author."""
    dated = {paper: forms for paper, forms in block.forms.items() if any(form.year for form in forms)}
    for paper, forms in block.forms.items():
        if paper not in dated:
            roots = {forest.find(twin) for twin, twin_forms in dated.items() if _may_share(forms, twin_forms, block)}
            if len(roots) == 1:
                forest.union_unless_apart(roots.pop(), paper)


def _may_share(forms: Sequence[_TitleForm], twin_forms: Iterable[_TitleForm], block: _TitleBlock) -> bool:
    """Whether the first author may be the same; an unknown one may be anyone if the title is long."""
    authors, twin_authors = ([form.author for form in side if form.author] for side in (forms, twin_forms))
    if not authors or not twin_authors:
        return block.long
    return any(same_family(author, twin_author) for author in authors for twin_author in twin_authors)


def _join_cut(forest: Forest, block: _TitleBlock) -> None:
    """Join a title to the only one by its author and year that continues after a colon."""
    if not block.forms or not block.longer or len(block.forms) + len(block.longer) > _MAX_COMPARED:
        return
    for paper, forms in block.forms.items():
        dated_forms = [form for form in forms if form.author and form.year]
        by_author = [
            (twin, longer_form, title)
            for twin, longer_form, title in block.longer
            if any(same_family(form.author, longer_form.author) for form in dated_forms)
        ]
        if len({title for _, _, title in by_author}) != 1:
            continue  # none, or parts of a series
        years = {form.year for form in dated_forms}
        same_year = {twin for twin, longer_form, _ in by_author if longer_form.year in years}
        for twin in sorted(same_year, key=forest.table.digest.__getitem__):
            if _is_titled(forest, paper, twin) and not forest.within_years(paper, twin, _MAX_YEARS):
                continue
            forest.union_unless_apart(paper, twin)


def _is_titled(forest: Forest, *papers: int) -> bool:
    """Whether only their titles identify these papers."""
    return all(forest.table.rank[paper] == KeyRank.TITLE for paper in papers)
