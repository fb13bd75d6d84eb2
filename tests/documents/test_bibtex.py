"""BibTeX and biblatex files, sound, broken and hostile."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.documents.bibtex import READER, parse
from whycite.documents.model import Document, Reference
from whycite.documents.sources import decode


def one(text: str) -> Reference:
    references, _ = parse(text, "refs.bib")
    assert len(references) == 1
    return references[0]


def test_reads_an_article() -> None:
    reference = one(
        """@Article{Smith:2010+a,
          author = {Smith, J{\\"o}rg and {van der Berg}, Jan and others},
          title = "{A {DNA}-binding protein: the $\\alpha$ case.}",
          journal = {Nature}, year = 2010, month = feb,
          doi = {https://doi.org/10.1038/NATURE_1}, pmid = {12345},
          abstract = {We show \\emph{that} 5\\% is enough.},
        }"""
    )
    assert reference == Reference(
        id="Smith:2010+a",
        title="A DNA-binding protein: the α case",
        authors=("Smith, Jörg", "van der Berg, Jan"),
        year=2010,
        venue="Nature",
        doi="10.1038/nature_1",
        pmid="12345",
        abstract="We show that 5% is enough.",
    )


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ("title={Main}, subtitle={Sub}", "title", "Main: Sub"),
        ("title={Why?}, subtitle={Because}", "title", "Why? Because"),
        ("title={A &amp; B {\\textless}i{\\textgreater}coli{\\textless}/i{\\textgreater}}", "title", "A & B coli"),
        ("title={A} # { and } # \"B\"", "title", "A and B"),
        ("title={A}, title={B}", "title", "A"),
        ("title={A}, % a comment\n year={1999}", "year", 1999),
        ("title={A},\n % year={1998},\n year={1999}", "year", 1999),
        ("date={2010-05-03/2011}", "year", 2010),
        ("year={in press 2012a}", "year", 2012),
        ("year={forthcoming}", "year", None),
        ("editor={Doe, Jane}", "authors", ("Doe, Jane",)),
        ("journaltitle={Cell}", "venue", "Cell"),
        ("booktitle={Proc. of {X}}, publisher={Y}", "venue", "Proc. of X"),
        ("journal={\\apj}", "venue", "ApJ"),
        ("howpublished={\\url{http://x.org}}", "venue", ""),
        ("url={https://doi.org/10.1000/abc.1}", "doi", "10.1000/abc.1"),
        ("note={doi: 10.1000/abc.2}", "doi", "10.1000/abc.2"),
        ("eprint={1203.4567v2}, archiveprefix={arXiv}", "arxiv", "1203.4567"),
        ("eprint={1203.4567}, eprinttype={arxiv}", "arxiv", "1203.4567"),
        ("eprint={0601001}, primaryclass={astro-ph}", "arxiv", "astro-ph/0601001"),
        ("journal={arXiv preprint arXiv:1203.4567}", "arxiv", "1203.4567"),
        ("journal={CoRR}, volume={abs/1203.4567}", "arxiv", "1203.4567"),
        ("note={arXiv:hep-th/9901001}", "arxiv", "hep-th/9901001"),
        ("eprint={19872477}, eprinttype={pubmed}", "pmid", "19872477"),
        ("note={PMID: 19872477}", "pmid", "19872477"),
        ("note={Volume 19872477}", "pmid", ""),
        ("note={Smith, A book without a title field, 1999}", "text", "Smith, A book without a title field, 1999"),
    ],
)  # fmt: skip
def test_finds_fields_where_they_stand(fields: str, name: str, value: object) -> None:
    assert getattr(one(f"@misc{{k, {fields}}}"), name) == value


def test_isbn_belongs_to_whole_works_only() -> None:
    assert one("@book{k, isbn={978-3-16-148410-0}}").isbn == "9783161484100"
    assert one("@incollection{k, isbn={978-3-16-148410-0}}").isbn == ""


def test_abbreviations() -> None:
    reference = one(
        """@STRING{nat = "Nature"} @string(lett = nat # { Letters})
        @string{twice = "first"} @string{twice = "second"}
        @article{k, journal = NAT # " and " # lett, title = twice, note = unknown}"""
    )
    assert reference.venue == "Nature and Nature Letters"
    assert reference.title == "first"


def test_crossref_gives_what_also_holds_for_the_part() -> None:
    references, _ = parse(
        """@inproceedings{part, title={Part}, author={A, B}, crossref={whole}}
        @proceedings{whole, title={The Conference}, year=2001, doi={10.1000/whole}, editor={E, F}}""",
        "refs.bib",
    )
    part = references[0]
    assert (part.title, part.venue, part.year, part.doi) == ("Part", "The Conference", 2001, "")


def test_data_containers_are_taken_over_and_not_listed() -> None:
    references, _ = parse("@xdata{x, year=1999, title={Shared}} @article{k, xdata={x}}", "refs.bib")
    assert [(r.id, r.title, r.year) for r in references] == [("k", "Shared", 1999)]


def test_crossref_in_a_circle_ends() -> None:
    references, _ = parse("@book{a, crossref={b}} @book{b, crossref={a}, year=2000}", "refs.bib")
    assert [r.year for r in references] == [2000, 2000]


def test_aliases_of_biblatex_resolve() -> None:
    references, _ = parse("@article{k, title={T}, ids={old, older}}", "refs.bib")
    assert {r.id: r.title for r in references} == {"k": "T", "old": "T", "older": "T"}


def test_the_first_of_two_entries_with_one_key_is_used_and_said() -> None:
    references, warnings = parse("@misc{k, title={first}}\n@misc{k, title={second}}", "refs.bib")
    assert [r.title for r in references] == ["first"]
    assert warnings == ["refs.bib:2: key 'k' stands twice; the entry of line 1 is used"]


BROKEN = {
    "no comma behind the key": "@article{k\n  title = {Title},\n  year = 2001\n}",
    "no comma between fields": "@article{k,\n  title = {Title}\n  year = 2001\n}",
    "no comma on one line": "@article{k, title = {Title} year = {2001}}",
    "two commas": "@article{k,,\n  title = {Title},, year = 2001\n}",
    "brace never closed": "@article{k,\n  title = {Title,\n  year = 2001\n}",
    "brace closed twice": "@article{k,\n  title = {Title}},\n  year = 2001\n}",
    "quote never closed": '@article{k,\n  title = "Title,\n  year = 2001\n}',
    "entry never closed": "@article{k,\n  title = {Title},\n  year = 2001\n",
    "bracket for brace": "@article(k,\n  title = {Title},\n  year = 2001\n)",
    "line break behind the type": "@article\n{k,\n  title = {Title},\n  year = 2001\n}",
    "Windows line ends": "@article{k,\r\n  title = {Title},\r\n  year = 2001\r\n}\r\n",
    "byte order mark": "\ufeff@article{k, title = {Title}, year = 2001}",
    "backslash before the brace": "@article{k,\n  title = {Title\\},\n  year = 2001\n}",
    "text around": "see me@home.org {now}\n@article{k, title = {Title}, year = 2001} the end",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_broken_entries_survive_with_their_neighbours(text: str) -> None:
    text = f"@misc{{before, title={{B}}}}\n\n{text}\n\n@misc{{after, title={{A}}}}\n"
    found = {r.id: r for r in parse(text, "refs.bib")[0]}
    assert {"before", "k", "after"} <= found.keys()
    assert (found["k"].title, found["k"].year) == ("Title", 2001)
    assert (found["before"].title, found["after"].title) == ("B", "A")


@pytest.mark.parametrize(
    "key", ["a/b", "Müller2010", "DBLP:conf/x-1", "a_b.c+d", "x'y", "2010", "a(b)", "α:1", "a&b", "a=b"]
)
def test_odd_keys(key: str) -> None:
    assert [r.id for r in parse(f"@article{{{key}, title={{T}}}}\n@misc{{next,}}", "refs.bib")[0]] == [key, "next"]


def test_says_where_an_entry_is_broken() -> None:
    _, warnings = parse('@misc{a,}\n\n@misc{k,\n title = "T\n}\n@misc{b,}', "refs.bib")
    assert warnings == ["refs.bib:3: entry 'k' is not well formed; read as far as possible"]


def test_comments_are_not_entries() -> None:
    text = """@comment{jabref-meta: x} @preamble{"\\newcommand"} @comment{@article{a, title={A}}}
    % @article{b, title = {B}}
    %@article{c,
    %  title = {C}}
    @misc{k, title={T}}"""
    assert [r.id for r in parse(text, "refs.bib")[0]] == ["k"]


@pytest.mark.parametrize(
    "text", ["", "   \n", "no entry at all", "\0\1\2", "@", "@article", "@article{", "@{}", "@article{,}"]
)
def test_files_without_entries(text: str) -> None:
    assert parse(text, "refs.bib")[0] == []


def test_reader_gives_one_document_of_references(read_bytes: Callable[..., list[Document]]) -> None:
    (document,) = read_bytes(READER, "@misc{é, title={Ünïcode}}".encode("cp1252"), "refs.bib")
    assert document.format == "bibtex"
    assert [r.title for r in document.references] == ["Ünïcode"]
    assert not document.sentences
    assert "Windows-1252" in document.warnings[0]
    (empty,) = read_bytes(READER, b"", "refs.bib")
    assert empty.warnings == ("refs.bib: no entry found",)


def test_sniffs_entries_and_nothing_else() -> None:
    assert READER.sniff(b"% my refs\n@article{k, title={T}}")
    assert not READER.sniff(b"TY  - JOUR\nER  -\n")
    assert not READER.sniff(b"\x00\x01@article{")


def test_every_key_of_the_real_drafts_is_found(data: Path) -> None:
    head = re.compile(r"^\s*@\w+\s*[{(]\s*([^,\s]+)\s*,", re.MULTILINE)
    seen = 0
    for path in sorted((data / "drafts").rglob("*.bib")):
        text, _ = decode(path.read_bytes())
        references, _ = parse(text, path.name)
        ids = {reference.id for reference in references}
        keys = set(head.findall(text))
        assert keys <= ids, path
        aliases = {alias.strip() for ids_ in re.findall(r"\bids\s*=\s*\{([^}]*)\}", text) for alias in ids_.split(",")}
        assert ids <= keys | aliases, path
        seen += len(keys)
    assert seen > 6000


HOSTILE = {
    "one line": "x" * 1_000_000,
    "entry on one line": "@a{k, title={" + "x " * 500_000 + "}}",
    "open braces": "@a{k, title={" + "{" * 100_000,
    "closing braces": "@a{k, title=" + "}" * 1_000_000,
    "at signs": "@" * 100_000,
    "heads": "@a{" * 30_000,
    "heads on lines": "@a{k,\n" * 20_000,
    "open quotes": "@a{k, t=" + '"' * 1_000_000,
    "equals": "@a{k," + "a=" * 500_000,
    "hashes": "@a{k, t=" + "a#" * 500_000 + "}",
    "commas": "@a{k," + "," * 1_000_000 + "}",
    "spaces before a field": "@a{k\n" + " " * 1_000_000 + "title = {x}",
    "doubling": "".join(f'@string{{a{i} = a{i - 1} # a{i - 1} # "x"}}\n' for i in range(1, 3000))
    + "@a{k, title=a2999, note=" + "#".join(["a2999"] * 10_000) + "}",
    "circle": "".join(f"@string{{b{i} = b{(i + 1) % 1000} # b{i}}}\n" for i in range(1000)) + "@a{k, title=b1}",
    "long abbreviation": "@string{m={" + "y" * 9_000 + "}}\n" + "".join(f"@a{{k{i}, title=m}}\n" for i in range(9_000)),
    "parents": "".join(f"@a{{k{i}, xdata={{k{i + 1},k{i + 2}}}, crossref={{k{i + 3}}}}}\n" for i in range(9_000)),
    "large parent": "@book{p, title={" + "x" * 900_000 + "}}" + "@inbook{k,crossref={p}}\n" * 3_000,
    "binary": random.Random(1).randbytes(1_000_000).decode("latin-1"),
    "nul": "\0" * 1_000_000,
    "backslashes": "@a{k, title={" + "\\" * 1_000_000 + "}}",
    "brackets in a DOI": "@a{k, doi={10.1234/" + ")" * 1_000_000 + "}}",
    "authors": "@a{k, author={" + " and A" * 150_000 + "}}",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_end_soon(text: str) -> None:
    start = time.perf_counter()
    references, warnings = parse(text, "refs.bib")
    assert time.perf_counter() - start < 5
    assert len(warnings) <= 101
    assert all(len(r.venue) + len(r.title) < 2_000_000 for r in references)


_JUNK = st.lists(
    st.sampled_from(
        ["@", "@article{", "@string{", "@comment{", "@a(", "{", "}", '"', ",", "=", "#", "\n", " ", "%", "\\", "key",
         "title", "title = {x}", "year=2000", "crossref={k}", "\r\n", "(", ")", "é", "\0", "@misc{b,\n", "a = b # c"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(st.text(max_size=200) | _JUNK, st.text(max_size=200) | _JUNK)
def test_an_entry_between_blank_lines_is_never_lost(before: str, after: str) -> None:
    entry = "@article{unusual-key:7, title = {A {Title} of it}, year = 1987}"
    references, _ = parse(f"{before}\n\n{entry}\n\n{after}", "refs.bib")
    found = {reference.id: reference for reference in references}
    assert found["unusual-key:7"].title == "A Title of it"
    assert found["unusual-key:7"].year == 1987


_ENTRY = (
    "@article{key1,\n  author = {Smith, J. and Doe, K.},\n  title = {A title},\n  year = 2001,\n  doi = {10.1/x}\n}\n"
)


@given(
    st.lists(
        st.tuples(st.integers(0, len(_ENTRY) - 1), st.sampled_from(["", "{", "}", '"', ",", "@", "\n", "="])),
        max_size=4,
    )
)
def test_an_entry_with_letters_gone_wrong_never_fails(changes: list[tuple[int, str]]) -> None:
    text = _ENTRY
    for at, sign in changes:
        text = text[:at] + sign + text[at + 1 :]
    references, warnings = parse(text + "\n\n@misc{next, title={N}}\n", "refs.bib")
    assert "next" in {reference.id for reference in references}
    assert all(warning.startswith("refs.bib") for warning in warnings)
