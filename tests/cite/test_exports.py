"""Whole references: from an article through a library to BibTeX, CSL-JSON and RIS, and back into our readers."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import Result

from whycite.cite.exports import as_bibtex, as_csl, as_ris
from whycite.demo import articles
from whycite.documents import read
from whycite.documents.identity import paper_key
from whycite.documents.model import Publication, Reference
from whycite.documents.references import bibtex, csljson, ris
from whycite.library import Paper, add

Run = Callable[..., Result]

ENTRIES = """
<ref id="B1"><element-citation publication-type="journal">
  <person-group person-group-type="author"><name><surname>van der Berg</surname><given-names>Jan P</given-names></name>
    <name><surname>King</surname><given-names>Martin L</given-names><suffix>Jr.</suffix></name>
    <collab>The Sleep & Memory Group</collab></person-group>
  <year>2011</year><article-title>The β-cells of µm-sized E_coli {mutants}: 50% & more #1</article-title>
  <source>Journal of Rest & Sleep</source><month>6</month><day>5</day>
  <date-in-citation content-type="access-date" iso-8601-date="2012-01-30"/>
  <volume>12</volume><issue>3</issue><fpage>101</fpage><lpage>119</lpage>
  <issn>1234-5679</issn><publisher-name>Müller & Sons</publisher-name><publisher-loc>Zürich</publisher-loc>
  <pub-id pub-id-type="doi">10.1000/rest_1</pub-id><pub-id pub-id-type="pmid">7654321</pub-id>
  <pub-id pub-id-type="pmcid">PMC765432</pub-id>
  <ext-link xlink:href="https://example.org/a?b=c%20d&e=~f#g_h">link</ext-link></element-citation></ref>
<ref id="B2"><element-citation publication-type="book">
  <person-group person-group-type="author"><name><surname>de la Cruz</surname><given-names>Ana</given-names></name>
    <etal/></person-group>
  <person-group person-group-type="editor"><name><surname>Roe</surname><given-names>Rita</given-names></name>
  </person-group>
  <year>1999</year><chapter-title>Why foraging bees rest at night</chapter-title><source>The Book of Bees</source>
  <edition>2nd</edition><series>Animals</series><volume>4</volume><fpage>e7</fpage>
  <publisher-name>Hive Press</publisher-name><publisher-loc>Bern</publisher-loc></element-citation></ref>
<ref id="B3"><element-citation publication-type="book">
  <person-group person-group-type="author"><name><surname>Seeley</surname><given-names>TD</given-names></name>
  </person-group>
  <year>1995</year><source>The Wisdom of the Hive and of its foraging bees</source>
  <publisher-name>Harvard</publisher-name><isbn>978-0-306-40615-7</isbn></element-citation></ref>
""".replace("&", "&amp;")
ARTICLE = f"""<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article"><front><journal-meta>
<journal-title-group><journal-title>Reviews of Rest</journal-title></journal-title-group><issn>2000-0001</issn>
<publisher><publisher-name>Rest Press</publisher-name></publisher></journal-meta><article-meta>
<article-id pub-id-type="doi">10.1000/review</article-id><title-group><article-title>How animals rest</article-title>
</title-group><contrib-group><contrib contrib-type="author"><name><surname>Doe</surname><given-names>Jane</given-names>
</name></contrib></contrib-group><pub-date><year>2020</year></pub-date><volume>7</volume><issue>1</issue>
<elocation-id>e42</elocation-id></article-meta></front><body>
<p>Sleeping bees at night lose their grip on the comb <xref ref-type="bibr" rid="B1">1</xref>.</p>
<p>Foraging bees rest at night in their hive <xref ref-type="bibr" rid="B2">2</xref>.</p>
<p>Colonies of bees decide together where to forage <xref ref-type="bibr" rid="B3">3</xref>.</p>
</body><back><ref-list>{ENTRIES}</ref-list></back></article>"""


def _read_back(parse: Callable[[str, str], tuple[list[Reference], list[str]]], text: str) -> list[Reference]:
    references, warnings = parse(text, "exported")
    assert not warnings
    return references


PARSERS = {"bibtex": bibtex.parse, "csl": csljson.parse, "ris": ris.parse}


def _spread(reference: Reference, format: str) -> Reference:
    """A reference as a format writes it: in BibTeX, initials stand apart ("Seeley, T. D.")."""

    def apart(names: tuple[str, ...]) -> tuple[str, ...]:
        if format != "bibtex":
            return names
        pattern = re.compile(r"(?<=[^A-Z,], )[A-Z]{1,3}$")
        return tuple(pattern.sub(lambda initials: " ".join(f"{letter}." for letter in initials[0]), n) for n in names)

    publication = replace(reference.publication, editors=apart(reference.publication.editors))
    return replace(reference, authors=apart(reference.authors), publication=publication)


def _paper(reference: Reference) -> Paper:
    return Paper(
        paper_key(reference), reference.title, reference.authors, reference.year, reference.venue, reference.doi,
        arxiv=reference.arxiv, pmid=reference.pmid, isbn=reference.isbn, publication=reference.publication,
    )  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "review.xml").write_text(ARTICLE, "utf-8")
    assert add(folder / "library", [folder / "review.xml"], jobs=1).added == 1
    return folder / "library"


@pytest.mark.parametrize("format", PARSERS)
def test_every_field_of_the_source_is_exported(run: Run, library: Path, format: str) -> None:
    result = run("cite", "Bees rest at night and decide where to forage", "--library", library, "--format", format)
    assert result.exit_code == 0, result.output
    exported = {reference.title: reference for reference in _read_back(PARSERS[format], result.stdout)}
    document = read(library.parent / "review.xml")
    journal, chapter, book = document.references
    assert journal.publication == Publication(
        type="article-journal",
        date="2011-06-05",
        volume="12",
        issue="3",
        pages="101-119",
        publisher="Müller & Sons",
        place="Zürich",
        issn="1234-5679",
        pmcid="PMC765432",
        url="https://example.org/a?b=c%20d&e=~f#g_h",
        accessed="2012-01-30",
    )
    assert chapter.publication == Publication(
        type="chapter", et_al=True, editors=("Roe, Rita",), volume="4", pages="e7", publisher="Hive Press",
        place="Bern", edition="2nd", series="Animals",
    )  # fmt: skip
    assert book.isbn == "9780306406157"
    for reference in (journal, chapter, book, document.paper):
        after = exported[reference.title]
        assert after == replace(_spread(reference, format), id=after.id, text="")


def test_bibtex_is_written_as_people_write_it(run: Run, library: Path) -> None:
    written = run("cite", "Sleeping bees lose their grip", "--library", library, "--format", "bibtex").stdout
    assert (
        "@article{vanderberg2011beta,\n"
        "  title = {The β-cells of µm-sized E\\_coli "
        "\\textbraceleft{}mutants\\textbraceright{}: 50\\% \\& more \\#1},\n"
        "  author = {van der Berg, Jan P and King, Jr., Martin L and {The Sleep \\& Memory Group}},\n"
        "  year = {2011},\n"
        "  month = jun,\n"
        "  day = {5},\n"
        "  journal = {Journal of Rest \\& Sleep},\n"
        "  volume = {12},\n"
        "  number = {3},\n"
        "  pages = {101--119},\n"
        "  publisher = {Müller \\& Sons},\n"
        "  address = {Zürich},\n"
        "  doi = {10.1000/rest_1},\n"
        "  pmid = {7654321},\n"
        "  pmcid = {PMC765432},\n"
        "  issn = {1234-5679},\n"
        "  url = {https://example.org/a?b=c%20d&e=~f#g_h},\n"
        "  urldate = {2012-01-30},\n"
        "}\n"
    ) in written
    assert "author = {de la Cruz, Ana and others}" in written
    assert "editor = {Roe, Rita}" in written


@pytest.mark.parametrize("format", PARSERS)
def test_kinds_versions_and_dates_come_back(format: str) -> None:
    entries = (
        "@mastersthesis{ma, title = {Bees}, author = {Lee, Ann}, school = {TU}, year = 2011, type = {Diplomarbeit}}\n"
        "@phdthesis{phd, title = {Wasps}, author = {Lee, Ann}, school = {MIT}, year = 2012, month = may}\n"
        "@techreport{rfc, title = {Ants}, author = {Lee, Ann}, institution = {IETF}, year = 1981, type = {RFC}}\n"
        "@software{program, title = {Moths}, author = {Lee, Ann}, date = {2023-09-01}, version = {1.26.0}, "
        "url = {https://moth.org}, urldate = {2023-10-11}}\n"
    )
    references, _ = bibtex.parse(entries, "refs.bib")
    export = {"bibtex": as_bibtex, "csl": lambda papers: json.dumps(as_csl(papers)), "ris": as_ris}[format]
    after = _read_back(PARSERS[format], export([*map(_paper, references)]))
    for before, copy in zip(references, after, strict=True):
        type = before.publication.type if format != "bibtex" or before.id != "program" else ""  # one of "misc"
        assert copy.publication == replace(before.publication, type=type)
    master, doctor, report, program = (reference.publication for reference in references)
    assert (master.genre, doctor.genre, report.genre) == ("Diplomarbeit", "PhD thesis", "RFC")
    assert (doctor.date, program.date, program.edition) == ("2012-05", "2023-09-01", "1.26.0")
    if format == "bibtex":
        written = as_bibtex([*map(_paper, references)])
        assert re.findall(r"@\w+|(?<=type = ){\w+}", written) == [
            "@mastersthesis", "{Diplomarbeit}", "@phdthesis", "@techreport", "{RFC}", "@misc",
        ]  # fmt: skip
        assert "  version = {1.26.0},\n" in written


def test_doctors_stay_doctors_and_labels_of_databases_are_dropped() -> None:
    entries = (
        "@phdthesis{a, title = {Bees}, school = {TU}, year = 2011, type = {PhD thesis in Diplomacy}}\n"
        "@phdthesis{b, title = {Wasps}, school = {TU}, year = 2011, type = {Doctor rerum scientiarum}}\n"
        "@article{c, title = {Ants}, journal = {Insects}, year = 2012, type = {Journal Article}}\n"
        "@misc{d, title = {Moths}, journal = {Nature}, doi = {10.1038/abc}, year = 2013}\n"
    )
    references, _ = bibtex.parse(entries, "refs.bib")
    written = as_bibtex([*map(_paper, references)])
    assert re.findall(r"@\w+", written) == ["@phdthesis", "@phdthesis", "@article", "@article"]
    assert not references[2].publication.genre
    article = "TY  - JOUR\nTI  - Ants\nJO  - Insects\nM3  - Article\nER  - \n"
    assert not ris.parse(article, "refs.ris")[0][0].publication.genre


@pytest.fixture(scope="module")
def real_references() -> list[Reference]:
    """The references of some of the demo's articles, each once, without merely printed ones."""
    references: dict[str, Reference] = {}
    for path in articles()[:30]:
        for reference in read(path).references:
            if reference.title and not reference.text:
                references.setdefault(paper_key(reference), reference)
    return list(references.values())


@pytest.mark.parametrize(
    ("format", "export"),
    [("bibtex", as_bibtex), ("csl", lambda papers: json.dumps(as_csl(papers))), ("ris", as_ris)],
)
def test_real_references_keep_every_field(
    real_references: list[Reference], format: str, export: Callable[[list[Paper]], str]
) -> None:
    exported = _read_back(PARSERS[format], export([*map(_paper, real_references)]))
    assert len(exported) == len(real_references) > 1_000
    fields = ("title", "authors", "year", "venue", "doi", "arxiv", "pmid", "isbn")
    lost = [
        (name, getattr(before, name), getattr(after, name))
        for reference, copy in zip((_spread(one, format) for one in real_references), exported, strict=True)
        for before, after, names in [
            (reference, copy, fields),
            (reference.publication, copy.publication, [*Publication.__dataclass_fields__][1:]),
        ]
        for name in names
        if getattr(before, name) and getattr(before, name) != getattr(after, name)
    ]
    assert lost == []


@pytest.mark.slow
def test_entries_go_through_biber(real_references: list[Reference], tmp_path: Path) -> None:
    said = _tex(["biber", "--tool", "refs.bib"], real_references, tmp_path)
    assert "WARN" not in said, said
    assert "ERROR" not in said, said


@pytest.mark.slow
def test_entries_go_through_bibtex(real_references: list[Reference], tmp_path: Path) -> None:
    """Warnings are only about what the source does not know."""
    (tmp_path / "main.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{refs}\n", "utf-8")
    said = _tex(["bibtex", "main"], real_references, tmp_path)
    warnings = [line for line in said.splitlines() if line.startswith("Warning--") or "error" in line]
    known = re.compile(r"Warning--(?:empty (?:author|year|author and editor)|to sort, need author or key) in \S+")
    assert [line for line in warnings if not known.fullmatch(line)] == []
    lacking = sum(not reference.authors or not reference.year for reference in real_references[:1_000])
    assert len(warnings) <= 2 * lacking


def _tex(command: list[str], references: list[Reference], folder: Path) -> str:
    """What a program says about a thousand entries."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} at hand: install TeX")
    (folder / "refs.bib").write_text(as_bibtex(map(_paper, references[:1_000])), "utf-8")
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=200, check=False)
    return run.stdout.decode("utf-8", "replace") + run.stderr.decode("utf-8", "replace")
