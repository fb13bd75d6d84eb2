"""BibTeX and biblatex files, sound, broken and hostile."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.model import Document, Publication, Reference
from whycite.documents.references.bibtex import READER, parse, read_entries
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
          journal = {Nature}, year = 2010, month = feb, volume = 466, number = 7, pages = {12--19},
          publisher = {Springer}, issn = {0028-0836}, url = {https://example.org/a}, note = {Retracted},
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
        publication=Publication(
            type="article-journal",
            date="2010-02",
            et_al=True,
            volume="466",
            issue="7",
            pages="12-19",
            publisher="Springer",
            issn="0028-0836",
            url="https://example.org/a",
            note="Retracted",
        ),
    )


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ("title={Main}, subtitle={Sub}", "title", "Main: Sub"),
        ("title={Why?}, subtitle={Because}", "title", "Why? Because"),
        ("title={A &amp; B {\\textless}i{\\textgreater}coli{\\textless}/i{\\textgreater}}", "title", "A & B coli"),
        ("title={A} # { and } # \"B\"", "title", "A and B"),
        ("title={A}, title={B}", "title", "A"),
        ("title={A} {B}", "title", "A B"),
        ("title={A \\{ {B}}", "title", "A { B"),
        ("title={A\\\\}, year={1999}", "year", 1999),
        ('title="A {"}quoted{"} B", year={1999}', "title", 'A "quoted" B'),
        ("title={A} % a } comment\n, year={1999}", "year", 1999),
        ("title == {A}", "title", "A"),
        ("title=A title without braces, year={1999}", "title", "A title without braces"),
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
    assert warnings == ["refs.bib:2: duplicate key 'k'; using the entry on line 1"]


def test_sixty_keys_that_occur_twice_are_one_warning() -> None:
    twice = "\n".join(f"@misc{{k{number}, title={{Title}}}}" for number in range(60))
    references, warnings = parse(f"{twice}\n{twice}\n{twice}", "refs.bib")
    assert len(references) == 60
    assert warnings == [
        "refs.bib: 60 keys occur more than once ('k0', 'k1', 'k2' and 57 more); using the first entry of each"
    ]


BROKEN = {
    "no comma behind the key": "@article{k\n  title = {Title},\n  year = 2001\n}",
    "no comma between fields": "@article{k,\n  title = {Title}\n  year = 2001\n}",
    "no comma on one line": "@article{k, title = {Title} year = {2001}}",
    "no comma behind the key on one line": "@article{k title = {Title}, year = 2001}",
    "two commas": "@article{k,,\n  title = {Title},, year = 2001\n}",
    "brace never closed": "@article{k,\n  title = {Title,\n  year = 2001\n}",
    "brace closed twice": "@article{k,\n  title = {Title}},\n  year = 2001\n}",
    "brace opened again": "@article{k,\n  title = {Title}{,\n  year = 2001\n}",
    "quote closed twice": '@article{k,\n  title = "Title"",\n  year = 2001\n}',
    "quote never opened": '@article{k,\n  title = Title",\n  year = "2001"\n}',
    "braces around the key": "@article{{k}, title = {Title}, year = 2001}",
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
    assert warnings == ["refs.bib:3: entry 'k' is malformed; read as far as possible"]


@pytest.mark.parametrize(
    "entry",
    [
        "@misc{k, title={T}, year=2001",
        "@misc{k, title={T, year=2001}",
        "@misc(k, title={T}, year=2001}",
        "@misc{k, title={T}}, year=2001}",
        "@misc{k title={T}, year=2001}",
        "@misc{k, title={T},, year=2001}",
        "@misc{k, title={T}, year=2001, doi}",
        "@misc{k, title={\n@misc{later, title={T}}}, year=2001}",
    ],
)
def test_says_so_of_every_entry_it_mends(entry: str) -> None:
    references, warnings = parse(f"@misc{{a,}}\n{entry}\n@misc{{b,}}", "refs.bib")
    assert warnings == ["refs.bib:2: entry 'k' is malformed; read as far as possible"]
    assert {"a", "k", "b"} <= {reference.id for reference in references}


def test_an_entry_never_closed_leaves_the_next_on_its_line_alone() -> None:
    text = "@string{s = {S} @misc{a, title=s @misc{b, title={B}, @misc(c) @misc{d, title={D}} , title={no}} @misc{e,}"
    entries, _ = read_entries(text, "refs.bib")
    assert [(entry.key, entry.fields.get("title")) for entry in entries] == [
        ("a", "S"), ("b", "B"), ("c", None), ("d", "D"), ("e", None),
    ]  # fmt: skip


def test_comments_are_not_entries() -> None:
    text = """@comment{jabref-meta: x} @preamble{"\\newcommand"} @comment{@article{a, title={A}}}
    % @article{b, title = {B}}
    %@article{c,
    %  title = {C}}
    @comment(a {)} @misc{d,}) @comment{never closed {
    @misc{k, title={T}}
    @misc{l, title={T},
      % note = {@misc{e,}
    }"""
    assert [r.id for r in parse(text, "refs.bib")[0]] == ["k", "l"]


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
    assert empty.warnings == ("refs.bib: no entries found",)


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


def _enclosed(value: str) -> str | None:
    """The text of a value that is one piece in braces or quotes, or a number; None of any other."""
    if value.isdigit():
        return value
    depth = 0
    for at, sign in enumerate(value):
        escaped = at > 0 and value[at - 1] == "\\"
        depth += 0 if escaped else (sign == "{") - (sign == "}")
        ends = (sign == "}" or (sign == '"' and at > 0 and value[0] == '"')) and not escaped and depth == 0
        if ends and (sign == "}") == (value[0] == "{"):
            return value[1:-1] if at == len(value) - 1 else None
    return None


def test_agrees_with_bibtexparser_on_the_real_drafts(data: Path) -> None:
    commented = re.compile(r"^([ \t]*%[^\n@]*)@", re.MULTILINE)
    seen = 0
    for path in sorted((data / "drafts").rglob("*.bib")):
        text = commented.sub(r"\1", decode(path.read_bytes())[0].replace("\r\n", "\n"))
        ours = {entry.key: entry for entry in read_entries(text, path.name)[0]}
        for theirs in parse_string(text, parse_stack=[]).entries:
            entry = ours[theirs.key]
            assert (entry.type, entry.line - 1) == (theirs.entry_type, theirs.start_line), path
            for field in theirs.fields:
                value = _enclosed(field.value)
                if value is not None and "%" not in field.key:
                    assert entry.fields[field.key.lower()] == value, (path, theirs.key)
                    seen += 1
    assert seen > 60_000


_WORDS = st.sampled_from(
    ["word", "Title", " ", "\n", "\n  ", ",", "=", " # ", "5%", "a@b.org", "@ 5", "é", '{\\"o}', "\\&", "\\{", "\\}",
     "(", ")", "$x$", "2001", "month = may,", "--", "{}", '{"}', "\n year = 2000,\n"]
)  # fmt: skip
_TEXTS = st.recursive(
    st.lists(_WORDS, max_size=6).map("".join),
    lambda inner: st.tuples(inner, inner, inner).map(lambda parts: "{}{{{}}}{}".format(*parts)),
    max_leaves=6,
)
_VALUES = _TEXTS.map("{{{}}}".format) | _TEXTS.map('"{}"'.format) | st.integers(0, 9999).map(str)
_FIELDS = st.dictionaries(st.from_regex(r"[A-Za-z][a-z0-9_-]{0,9}", fullmatch=True).map(str.lower), _VALUES, max_size=5)
_BLANKS = st.sampled_from(["", " ", "\n", "\n\t", "  \n"])


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9][A-Za-z0-9:+/._-]{0,11}", fullmatch=True),
        st.tuples(st.sampled_from(["article", "Misc", "INBOOK"]), _FIELDS, st.sampled_from(["{}", "()"]), _BLANKS),
        max_size=4,
    ),
    _BLANKS,
    st.booleans(),
    st.sampled_from(["\n", " ", "\nfree text, {5} = 6\n"]),
)
def test_agrees_with_bibtexparser_on_well_formed_entries(
    wanted: dict[str, tuple[str, dict[str, str], str, str]], blanks: str, comma: bool, between: str
) -> None:
    text = between.join(
        f"@{kind}{blank}{brackets[0]}{blanks}{key},{blanks}"
        + f"{blank},{blanks}".join(f"{name}{blank}={blanks}{value}" for name, value in fields.items())
        + f"{',' if comma and fields else ''}{blanks}{brackets[1]}"
        for key, (kind, fields, brackets, blank) in wanted.items()
    )
    entries, warnings = read_entries(text, "refs.bib")
    assert not warnings
    assert [(entry.type, entry.key, entry.fields) for entry in entries] == [
        (kind.lower(), key, {name: _enclosed(value) for name, value in fields.items()})
        for key, (kind, fields, _, _) in wanted.items()
    ]
    ours = {entry.key: entry for entry in entries}
    for theirs in parse_string(text, parse_stack=[]).entries:
        entry = ours[theirs.key]
        assert entry.type == theirs.entry_type
        assert entry.fields == {field.key: _enclosed(field.value) for field in theirs.fields}


HOSTILE = {
    "one line": "x" * scaled(1_000_000),
    "entry on one line": "@a{k, title={" + "x " * scaled(500_000) + "}}",
    "open braces": "@a{k, title={" + "{" * scaled(100_000),
    "closing braces": "@a{k, title=" + "}" * scaled(1_000_000),
    "at signs": "@" * scaled(100_000),
    "heads": "@a{" * scaled(30_000),
    "heads on lines": "@a{k,\n" * scaled(20_000),
    "open quotes": "@a{k, t=" + '"' * scaled(1_000_000),
    "equals": "@a{k," + "a=" * scaled(500_000),
    "hashes": "@a{k, t=" + "a#" * scaled(500_000) + "}",
    "commas": "@a{k," + "," * scaled(1_000_000) + "}",
    "spaces before a field": "@a{k\n" + " " * scaled(1_000_000) + "title = {x}",
    "doubling": "".join(f'@string{{a{i} = a{i - 1} # a{i - 1} # "x"}}\n' for i in range(1, 3000))
    + "@a{k, title=a2999, note=" + "#".join(["a2999"] * scaled(10_000)) + "}",
    "circle": "".join(f"@string{{b{i} = b{(i + 1) % 1000} # b{i}}}\n" for i in range(1000)) + "@a{k, title=b1}",
    "long abbreviation": "@string{m={" + "y" * 9_000 + "}}\n" + "".join(f"@a{{k{i}, title=m}}\n" for i in range(9_000)),
    "parents": "".join(f"@a{{k{i}, xdata={{k{i + 1},k{i + 2}}}, crossref={{k{i + 3}}}}}\n" for i in range(9_000)),
    "large parent": "@book{p, title={" + "x" * scaled(900_000) + "}}" + "@inbook{k,crossref={p}}\n" * 3_000,
    "binary": random.Random(1).randbytes(1_000_000).decode("latin-1"),
    "nul": "\0" * scaled(1_000_000),
    "backslashes": "@a{k, title={" + "\\" * scaled(1_000_000) + "}}",
    "brackets in a DOI": "@a{k, doi={10.1234/" + ")" * scaled(1_000_000) + "}}",
    "authors": "@a{k, author={" + " and A" * scaled(150_000) + "}}",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_end_soon(text: str) -> None:
    start = time.process_time()
    references, warnings = parse(text, "refs.bib")
    assert time.process_time() - start < MAX_SECONDS
    assert len(warnings) <= 101
    assert all(len(r.venue) + len(r.title) < 2_000_000 for r in references)


@pytest.mark.parametrize(
    "unit",
    ["@a{k,", "@a(", "@", "{", "}", '"', "@a{k, t = {", "@string{a = a # a}", "%@\n", "@comment{", "@a{k,\n",
     "\n@a{k,t={", '\n@a{k,t="', "@a(=", "@a{%", "@a{k,t={x}{ ", "@a{k,t=x # {", "@a{k, t={x}}, a=", "\\}", "a=",
     "a b ", "t={x}{ ", "@a\n"],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "@a{k, t="], ids=["between", "within"])
def test_repetitions_take_linear_time(before: str, unit: str) -> None:
    text = before + unit * (scaled(1_000_000) // len(unit))
    start = time.process_time()
    _, warnings = parse(text, "refs.bib")
    assert time.process_time() - start < MAX_SECONDS
    assert len(warnings) <= 101


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


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("@phdthesis{k, school = {MIT}}", "PhD thesis"),
        ("@mastersthesis{k, school = {MIT}}", "Master's thesis"),
        ("@thesis{k, type = {mathesis}, institution = {MIT}}", "Master's thesis"),
        ("@phdthesis{k, type = {{PhD} dissertation}}", "PhD dissertation"),
        ("@techreport{k, institution = {IETF}}", ""),
        ("@report{k, type = {RFC}}", "RFC"),
    ],
)
def test_kinds_of_works(entry: str, expected: str) -> None:
    assert one(entry).publication.genre == expected


@pytest.mark.parametrize(
    ("fields", "date", "accessed"),
    [
        ("date = {2019-06-05}, urldate = {2020-01-02}", "2019-06-05", "2020-01-02"),
        ("date = {2019-06/2019-08}, urldate = {12 March 2020}", "2019-06", "2020-03-12"),
        ("year = 2019, month = jun, lastaccessed = {May 4, 2021}", "2019-06", "2021-05-04"),
        ("year = 2019, month = jun # {~6--8}, urldate = {12.03.2020}", "2019-06", "2020-03-12"),
        ("year = 2019, month = {6~} # jun, urldate = {2020}", "2019-06-06", "2020"),
        ("year = 2019, month = 6, day = 5, urldate = {yesterday}", "2019-06-05", ""),
        ("year = 2019, month = {Summer}, urldate = {2020-02-30}", "", ""),
        ("year = 2019, date = {2020-01-01}", "", ""),  # they disagree
        ("date = {2019}", "", ""),
    ],
)
def test_dates(fields: str, date: str, accessed: str) -> None:
    publication = one(f"@misc{{k, {fields}}}").publication
    assert (publication.date, publication.accessed) == (date, accessed)


def test_what_is_in_no_journal_is_a_document() -> None:
    """GitHub's snippet names a journal, and Zotero's web pages do."""
    assert one("@misc{k, title = {x}, journal = {GitHub repository}}").publication.type == "document"
    assert one("@misc{k, title = {x}, journal = {Nature}, volume = 7}").publication.type == ""


def test_a_lost_comma_is_told_and_nothing_is_lost() -> None:
    entry = (
        '@article{k, author = {Lee, A} title = "Bees" # { rest},\n% a comment\nyear = 2020,}\n@book(l, title={Wasps})\n'
    )
    references, warnings = parse(f"@string{{x = {{X}}}}\n{entry}", "refs.bib")
    assert warnings == ["refs.bib:2: entry 'k': no comma before the field title, where BibTeX stops reading the entry"]
    assert [(ref.authors, ref.title, ref.year) for ref in references] == [
        (("Lee, A",), "Bees rest", 2020), ((), "Wasps", None),
    ]  # fmt: skip
