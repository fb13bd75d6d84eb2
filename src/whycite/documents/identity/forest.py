"""Papers told apart by their keys, and the trees in which those found to be one are joined."""

from __future__ import annotations

from array import array
from enum import IntEnum

__all__ = ["HEAD", "LONG", "PREPRINT", "Forest", "Rank", "Table"]

# Flags of a title row. HEAD: a title cut after its colon; the whole one stands on the row before.
LONG, PREPRINT, HEAD = 1, 2, 4


class Rank(IntEnum):
    """What a paper's key is made of, best first."""

    DOI = 0
    PREPRINT_DOI = 1
    ARXIV = 2
    PMID = 3
    TITLE = 4


class Table:
    """What is known of each key, in arrays: ten million must fit in memory."""

    def __init__(self) -> None:
        # One row a key.
        self.rank = array("B")
        self.digest = array("Q")  # hash of the key
        self.count = array("I")  # references that have it
        self.first = array("Q")  # the first of them
        self.pmid = array("I")  # one that was given with it, or 0
        self.arxiv = array("Q")  # hash of one that was given with it, or 0
        # One row for every other identifier that was given with a key.
        self.id_digest = array("Q")
        self.id_paper = array("I")
        # One row for every form of title, author and year that was given with a key.
        self.title_digest = array("Q")
        self.title_paper = array("I")
        self.title_author = array("I")  # index into names
        self.title_year = array("H")  # 0: unknown
        self.title_flags = array("B")
        self.names: list[str] = []

    def __len__(self) -> int:
        return len(self.rank)

    def add_key(self, rank: Rank, digest: int, first: int) -> int:
        """A new row for a key."""
        self.rank.append(rank)
        self.digest.append(digest)
        self.count.append(0)
        self.first.append(first)
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
    """Union-find that knows of every tree which identifiers keep it apart from others, and its years."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._parent = array("I", range(len(table)))
        self._published = array("B", (rank == Rank.DOI for rank in table.rank))
        self._identified = array("B", (rank != Rank.TITLE for rank in table.rank))
        # A preprint may have a PMID beside that of the published paper.
        preprints = (Rank.PREPRINT_DOI, Rank.ARXIV)
        ranked = zip(table.rank, table.pmid, strict=True)
        self._pmid = array("I", (0 if rank in preprints else pmid for rank, pmid in ranked))
        self._arxiv = table.arxiv[:]
        self._first = array("H", bytes(2 * len(table)))
        for paper, year in zip(table.title_paper, table.title_year, strict=True):
            self._first[paper] = year  # asked only of papers told by title: there it is part of the key
        self._last = self._first[:]

    def find(self, paper: int) -> int:
        """The paper that stands for the tree."""
        parent = self._parent
        while parent[paper] != paper:
            parent[paper] = parent[parent[paper]]
            paper = parent[paper]
        return paper

    def union(self, one: int, other: int) -> None:
        """Join two papers."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        self._parent[other] = one
        self._published[one] |= self._published[other]
        self._identified[one] |= self._identified[other]
        self._first[one] = _smaller(self._first[one], self._first[other])
        self._last[one] = max(self._last[one], self._last[other])
        # Where an identifier is in doubt the smaller one speaks for the tree, whichever came first.
        self._pmid[one] = _smaller(self._pmid[one], self._pmid[other])
        self._arxiv[one] = _smaller(self._arxiv[one], self._arxiv[other])

    def union_unless_apart(self, one: int, other: int) -> None:
        """Join two papers unless their identifiers say that they are two."""
        one, other = self.find(one), self.find(other)
        if (
            not (self._published[one] and self._published[other])
            and _agree(self._pmid[one], self._pmid[other])
            and _agree(self._arxiv[one], self._arxiv[other])
        ):
            self.union(one, other)

    def same_time(self, one: int, other: int, limit: int) -> bool:
        """Whether neither has an identifier and the years of both together span no more than `limit`."""
        one, other = self.find(one), self.find(other)
        if self._identified[one] or self._identified[other]:
            return False
        first = _smaller(self._first[one], self._first[other])
        return max(self._last[one], self._last[other]) - first <= limit

    def weight(self, one: int, other: int) -> tuple[int, int, int]:
        """What orders two joins that are as good: more references first, then the hashes of the keys."""
        low, high = sorted((self.table.digest[one], self.table.digest[other]))
        return -(self.table.count[one] + self.table.count[other]), low, high


def _agree(one: int, other: int) -> bool:
    return not one or not other or one == other


def _smaller(one: int, other: int) -> int:
    return min(one, other) if one and other else one or other
