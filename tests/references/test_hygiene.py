"""What an entry shows by itself."""

from datetime import date
from pathlib import Path

import pytest

from whycite.documents.references.bibtex import locate_entries, reference_of
from whycite.errors import UserError
from whycite.references.checking import check_references
from whycite.references.entries import Entry
from whycite.references.hygiene import entry_problems, venue_problems
from whycite.references.report import ReferenceProblem

TODAY = date(2026, 3, 1)


def _entry(fields: str, type: str = "misc") -> Entry:
    [source] = locate_entries(f"@{type}{{key, {fields}}}")
    return Entry(reference_of(source, source.fields), "refs.bib", 1, source.type, source.fields, source)


def _problems(fields: str, type: str = "misc") -> list[ReferenceProblem]:
    return list(entry_problems(_entry(fields, type), TODAY))


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        ("malformed-doi", "doi = {10.xxxx}", "doi = {10.1038/nature12373}"),
        ("malformed-doi", "doi = {see publisher}", "doi = {10/bqhp9z}"),  # a short DOI
        ("malformed-doi", "doi = {doi.org/nature12373}", "doi = {arXiv:2101.00001}"),
        (
            "malformed-arxiv",
            "eprint = {2113.00001}, archiveprefix = {arXiv}",
            "eprint = {2112.00001}, archiveprefix = {arXiv}",
        ),
        ("malformed-arxiv", "doi = {10.48550/arXiv.21.1}", "doi = {10.48550/arXiv.2101.00001}"),
        (
            "malformed-arxiv",
            "journal = {arXiv preprint arXiv:2113.01234}",
            "journal = {arXiv preprint arXiv:2112.01234}",
        ),
        ("malformed-arxiv", "url = {https://arxiv.org/abs/2101.0123}", "url = {https://arxiv.org/abs/1401.0123v2}"),
        ("malformed-arxiv", "note = {arXiv:1401.01234}", "note = {arXiv:hep-th/9901001}"),
        ("malformed-arxiv", "note = {arXiv:3005.01234}", "eprint = {1208.017}, archiveprefix = {ascl}"),
        (
            "identifiers-differ",
            "doi = {10.48550/arXiv.1706.03762}, eprint = {1810.04805}, archiveprefix = {arXiv}",
            "doi = {10.48550/arXiv.1706.03762}, eprint = {1706.03762v2}, archiveprefix = {arXiv}",
        ),
        (
            "identifiers-differ",
            "journal = {arXiv preprint arXiv:1706.03762}, url = {https://arxiv.org/abs/1810.04805}",
            "journal = {arXiv preprint arXiv:1706.03762}, url = {https://arxiv.org/pdf/1706.03762v5}",
        ),
        (
            "identifiers-differ",
            "doi = {10.1038/171737a0}, url = {https://doi.org/10.1038/nature14539}",
            "doi = {10.1038/171737a0}, url = {https://www.nature.com/articles/171737a0}",
        ),
        (
            "identifiers-differ",
            "doi = {10.1038/171737a0}, url = {https://doi.org/10.1038/171964b0}",
            "doi = {10.1038/171737a0}, url = {https://doi.org/10.1101/2020.05.01.071234}",
        ),
        ("malformed-pmid", "pmid = {PMC123}", "pmid = {12345678}"),
        ("malformed-isbn", "isbn = {978-3-16-148410-1}", "isbn = {978-3-16-148410-0}"),
        ("malformed-isbn", "isbn = {0-306-40615-3}", "isbn = {0-306-40615-2}"),
        ("malformed-isbn", "isbn = {1087-0156}", "isbn = {not known}"),
        ("malformed-issn", "issn = {2049-3631}", "issn = {2049-3630}"),
        ("malformed-issn", "issn = {9783527608621}", "issn = {0317-8471, 1050-124X}"),
        ("malformed-orcid", "orcid = {0000-0002-1825-0098}", "orcid = {0000-0002-1825-0097}"),
        (
            "malformed-orcid",
            "note = {https://orcid.org/0000-0001-5109-3701}",
            "note = {https://orcid.org/0000-0001-5109-3700}",
        ),
        ("future-year", "year = {2034}", "year = {2027}"),  # journals date issues ahead
        ("future-year", "year = {3392}", "year = {1543}"),
        ("malformed-year", "year = {20201}", "year = {1668/1670}"),
        ("malformed-year", "year = {98}", "year = {825}"),  # al-Khwarizmi
        ("malformed-year", "year = {'98}", "year = {in press}"),
        ("placeholder", "author = {John Doe and Jane Doe}", "author = {John Smith and Jane Dove}"),
        ("placeholder", "author = {Lastname, Firstname}", "author = {Last, Jerold A.}"),
        ("placeholder", "author = {A. Author and B. Author}", "author = {Arthur, A. and Unknown, Robert}"),
        ("placeholder", "author = {???}", "author = {Li, Q. and Ng, W.}"),
        ("placeholder", "title = {TODO}", "title = {Todo lists and how to keep them}"),
        ("placeholder", "title = {[Insert Title Here]}", "title = {Who let the dogs out???}"),
        ("placeholder", "author = {Author, First and Author, Second}", "author = {First, Ruth}"),
        ("placeholder", "author = {XXX, YYY}", "author = {Xi, Yu}"),
        ("placeholder", "author = {Lastname, F. and Surname, G.}", "author = {Lastnamer, F. and Surnam, G.}"),
        ("placeholder", "author = {Mouse, Mickey}", "author = {Mouse, Michael}"),
        ("placeholder", "author = {Max Mustermann}", "author = {Max Muster}"),
        ("placeholder", "journal = {Journal of [Field]}", "journal = {[Journal of Chinese medicine]}"),
        ("placeholder", "journal = {Annals [of the Conference]}", "journal = {Annals [of the] Academy}"),
        ("placeholder", "year = {[Year]}", "year = {[n.d.]}"),
        ("placeholder", "url = {https://www.example.com/paper}", "url = {https://example.community/paper}"),
        ("placeholder", "journal = {Journal Name}", "journal = {Journal of Names}"),
        ("placeholder", "journal = {???}", "journal = {Advances in Cryptology???ASIACRYPT 2001}"),  # a lost dash
        ("placeholder", "year = {20XX}", "year = {19??}"),  # as libraries write it
        ("placeholder", "doi = {10.1234/xxxxx}", "doi = {10.1234/xenon.12}"),
        ("placeholder", "doi = {10.1000/xyz123}", "doi = {10.1000/182}"),
        ("author-list", "author = {Smith, A., Jones, B., and Li, C.}", "author = {von Smith, Jr., A. and Jones, B.}"),
        ("author-list", "author = {Smith, A.; Jones, B.}", "author = {D&apos;Amore, F. and Jones, B.;}"),
        ("author-list", "editor = {Lab A, Lab B, Lab C, Lab D}", "editor = {{Lab A, Lab B, Lab C, Lab D}}"),
        ("author-list", "author = {A, B; C}", "author = {given=Jean, prefix=de la, prefix-i=d, family=Fontaine}"),
        ("author-list", "author = {Ann Lee, Bob Ray, Cy Young}", "author = {de la Cruz, Jr., Juan Ramos}"),
        ("author-list", "author = {Ann Lee \\& Bob Ray}", "author = {{Lee \\& Ray}}"),
        ("et-al", "author = {Kaiser, Walter and et al.}", "author = {Kaiser, Walter and others}"),
        ("doi-form", "doi = {10.1038/nature12373.}", "doi = {10.1016/j.cell.2010.01.001}"),
        ("doi-form", "doi = {doi.org/10.1038/nature12373}", "doi = {10.1371/journal.pone.0000001.s001}"),
        ("malformed-url", "url = {www.r-project.org}", "url = {https://www.r-project.org}"),
        ("malformed-url", "url = {htp://r-project.org}", "url = {ftp://r-project.org/pub}"),
        ("malformed-url", "url = {http//r-project.org}", "url = {\\url{http://r-project.org}}"),
        (
            "malformed-url",
            "url = {https://https://r-project.org}",
            "url = {https://web.archive.org/web/2/http://x.org}",
        ),
        ("malformed-url", "url = {https://a.org https://b.org}", "url = {urn:nbn:de:101:1-201102033592}"),
        ("malformed-url", "url = {https://a.org/my file.pdf}", "url = {https://a.org/my%20file.pdf}"),
        ("malformed-url", "url = {http://localhost:8888/tree}", "url = {http://localhosts.org}"),
        ("malformed-url", "url = {file:///C:/Users/me/a.pdf}", "url = {https://a.org/~me/f_(1)\\_2.pdf}"),
        ("malformed-url", "url = {N/A}", "url = {}"),
        ("malformed-url", "url = {10.1000/182}", "url = {http://a.org/\\textasciitilde me}"),
        ("malformed-date", "urldate = {2020-02-30}", "urldate = {2020-02-29}"),
        ("malformed-date", "urldate = {yesterday}", "urldate = {12 March 2020}"),  # BibTeX prints it
        ("malformed-date", "date = {2020}, urldate = {12.03.2020}", "date = {2020}, urldate = {2020-03-12}"),
        ("malformed-date", "urldate = {2026-03-02}", "urldate = {2026-03-01}"),
        ("malformed-date", "date = {2019-13}", "date = {2019-21}"),  # spring
        ("malformed-date", "date = {in press}", "date = {2005-12-14/2020-04-11}"),
        ("malformed-date", "date = {May 2019}", "date = {May 2019}, year = 2019"),
        ("malformed-date", "date = {2019-06-31}", "date = {-0379}"),
        ("malformed-date", "date = {2019/06/31}", "date = {2010/}"),
        ("malformed-date", "date = {2019-6}", "date = {201X~}"),
    ],
)
def test_malformed_fields_are_reported_and_others_are_not(rule: str, wrong: str, right: str) -> None:
    assert [problem.rule for problem in _problems(wrong)] == [rule]
    assert _problems(right) == []


def test_fields_are_required_by_type() -> None:
    assert [
        problem.field for problem in _problems("title = {Bees}, author = {Kaiser, W.}, year = 1988", "article")
    ] == ["journal"]
    assert _problems("title = {Bees}, author = {Kaiser, W.}, date = 1988, eprint = {x}", "article") == []
    assert _problems("note = {personal communication}", "unpublished") == []


def test_an_article_without_an_identifier() -> None:
    fields = "title = {Bees}, author = {Kaiser, W.}, journal = {Bee World}, year = 1988"
    assert [problem.rule for problem in _problems(fields, "article")] == ["no-identifier"]
    for identifier in (
        "doi = {10.1000/x}",
        "pmid = 12345",
        "eprint = {2101.00001}, archiveprefix = {arXiv}",
        "eprint = {2266170}, eprinttype = {jstor}",
        "url = {https://bee.org/1}",
    ):
        assert _problems(f"{fields}, {identifier}", "article") == []
    assert _problems(fields, "inproceedings") == []


def test_an_isbn_and_an_issn_in_each_other_s_field() -> None:
    [issn] = _problems("isbn = {1087-0156}")
    [isbn] = _problems("issn = {9783527608621}")
    assert issn.message.endswith("it is an ISSN, which has a field of its own")
    assert isbn.message.endswith("it is an ISBN, which has a field of its own")


def test_certain_corrections() -> None:
    [address] = _problems("doi = {https://doi.org/10.1038/Nature12373}")
    assert (address.rule, address.correction) == ("doi-form", "10.1038/Nature12373")
    [escaped] = _problems("doi = {http://dx.doi.org/10.1002%2FJSB.1%281998%29.}")
    assert escaped.correction == "10.1002/JSB.1(1998)"
    [visited] = _problems("date = {2019}, urldate = {March 5, 2019}")
    assert visited.correction == "2019-03-05"
    for written in ("2019-06-05 -- 2019-06-09", "2019-06/07", "2019-06-05--2019-06-07", "2020-01-02 and 2021-02-03"):
        [several] = _problems(f"date = {{{written}}}, journaltitle = {{Bees}}")
        assert (several.rule, several.correction) == ("malformed-date", "")  # its end would be lost
    [et_al] = _problems("author = {{Gaia} and Gilmore, G. et al.}")
    assert et_al.correction == "{Gaia} and Gilmore, G. and others"


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ("doi = {10.1609/AAAI.V37I9.26237}, booktitle = {ICML}, year = 2023", ["venue-differs"]),
        ("doi = {10.1609/AAAI.V37I9.26237}, booktitle = {AAAI}, year = 2023", []),
        ("doi = {10.1609/AAAI.V37I9.26237}, booktitle = {Proceedings of the thirty-seventh AAAI}, year = 2023", []),
        ("doi = {10.1609/AAAI.V37I9.26237}, booktitle = {Proc. of a place we do not know}, year = 2024", []),
        ("doi = {10.1109/CVPR52688.2022.01981}, booktitle = {CVPR}, year = 2019", ["year-differs"]),
        ("doi = {10.1109/CVPRW.2017.151}, booktitle = {ICML}, year = 2017", []),  # a workshop
        ("doi = {10.1126/science.1227786}, journal = {Cell}, year = 2012", ["venue-differs"]),
        ("doi = {10.1126/science.1227786}, journal = {Cell Reports}, year = 2012", []),
        ("journal = {arXiv preprint arXiv:2105.01234}, year = 2015", ["year-differs"]),
        ("journal = {CoRR}, eprint = {hep-th/9901001}, year = 1990", ["year-differs"]),
        ("journal = {arXiv preprint arXiv:1901.01234}, year = 2018", []),  # sent in on New Year's Eve
        ("journal = {bioRxiv}, doi = {10.1101/2020.05.01.071234}, year = 2019", ["year-differs"]),
        ("journal = {Annals of Bees}, doi = {10.1101/2020.05.01.071234}, year = 2021", []),  # published later
        ("journal = {Annals of Bees}, eprint = {2105.01234}, year = 1999", []),  # put there later
    ],
)
def test_dois_that_name_their_venue(fields: str, rules: list[str]) -> None:
    assert [problem.rule for problem in venue_problems(_entry(fields, "inproceedings").reference)] == rules


def _duplicates(tmp_path: Path, text: str) -> dict[str, list[str]]:
    return _messages(tmp_path, ("duplicate", "shared-identifier"), text)


def _messages(tmp_path: Path, rules: tuple[str, ...], text: str) -> dict[str, list[str]]:
    file = tmp_path / "refs.bib"
    file.write_text(text, "utf-8")
    report = check_references(file, use_library=False)
    return {
        reference.entry.key: [problem.message for problem in reference.problems if problem.rule in rules]
        for reference in report.references
    }


def test_a_duplicate_is_of_the_entry_with_its_title(tmp_path: Path) -> None:
    """An entry with the DOI of another paper makes one paper of three entries."""
    messages = _duplicates(
        tmp_path,
        "@misc{wrong, title = {Attention is all you need}, author = {Li, A.}, doi = {10.1/array}, year = 2020}\n"
        "@misc{array, title = {Array programming as a craft}, author = {Harris, C.}, doi = {10.1/array}, year = 2020}\n"
        "@misc{again, title = {Array programming as a craft}, author = {Harris, C.}, year = 2020}\n",
    )
    assert "'array'" in messages["wrong"][0]
    assert "the same paper as 'array'" in messages["again"][0]


def test_duplicates_with_other_authors_say_so(tmp_path: Path) -> None:
    messages = _duplicates(
        tmp_path,
        "@misc{real, title = {Busy bees need rest, too}, author = {Kaiser, Walter}, doi = {10.1/b}, year = 1988}\n"
        "@misc{made, title = {Busy bees need rest, too}, author = {Romano, Giulia}, doi = {10.1/b}, year = 1988}\n",
    )
    assert messages["made"] == [
        f"the same paper as 'real' ({tmp_path / 'refs.bib'}:1), which does not name “Romano, Giulia” among its "
        "authors; one of the two is wrong"
    ]


def test_duplicates_of_another_year_say_so(tmp_path: Path) -> None:
    messages = _duplicates(
        tmp_path,
        "@misc{real, title = {Busy bees need rest, too}, author = {Kaiser, Walter}, doi = {10.1/b}, year = 1988}\n"
        "@misc{late, title = {Busy bees need rest, too}, author = {Kaiser, Walter}, doi = {10.1/b}, year = 1998}\n",
    )
    assert messages["late"] == [f"the same paper as 'real' ({tmp_path / 'refs.bib'}:1), which is from 1988"]


def test_a_thesis_and_a_paper_of_the_same_title_are_two_works(tmp_path: Path) -> None:
    title = "title = {Collaborative annotation of proteins}, author = {Salazar, Gustavo}"
    messages = _duplicates(
        tmp_path,
        f"@mastersthesis{{thesis, {title}, school = {{UCT}}, year = 2010}}\n"
        f"@article{{paper, {title}, journal = {{BMC Bioinformatics}}, year = 2010}}\n"
        f"@phdthesis{{again, {title}, school = {{University of Cape Town}}, year = 2010}}\n",
    )
    assert messages["paper"] == []
    assert "the same paper as 'thesis'" in messages["again"][0]


def test_a_key_in_other_capitals_is_an_error_only_where_it_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text("@misc{Scott70, title = {Constructive validity}, author = {Scott, Dana}}\n")
    (tmp_path / "draft.tex").write_text(
        "\\begin{document}\nSee \\cite{scott70}.\n\\bibliography{refs}\n\\end{document}\n"
    )
    (tmp_path / "draft.md").write_text("---\nbibliography: refs.bib\n---\nSee @scott70.\n")
    for name, rule in (("draft.tex", "key-case"), ("draft.md", "missing-entry")):
        report = check_references(tmp_path / name, use_library=False)
        problems = {reference.entry.key: reference.problems for reference in report.references}
        assert [problem.rule for problem in problems["scott70"]] == [rule]


def test_keys_that_differ_in_capitals_are_one_for_bibtex(tmp_path: Path) -> None:
    messages = _messages(
        tmp_path,
        ("key-case",),
        "@misc{Scott70, title = {Constructive validity}, author = {Scott, Dana}}\n"
        "@misc{scott70, title = {Outline of a theory}, author = {Scott, Dana}}\n"
        "@inproceedings{part, title = {A part}, author = {Scott, Dana}, crossref = {Whole}}\n"
        "@proceedings{whole, title = {The whole}, year = 1970}\n",
    )
    assert messages["Scott70"] == []
    assert messages["scott70"] == [
        f"BibTeX, which ignores capitals, takes this key for 'Scott70' ({tmp_path / 'refs.bib'}:1)"
    ]
    assert messages["part"] == [
        "the entry takes fields from 'Whole', but its key is 'whole'; only BibTeX ignores capitals"
    ]


def test_arxiv_s_own_entry_is_of_the_year_of_its_number(tmp_path: Path) -> None:
    """It names the year of the latest version."""
    messages = _duplicates(
        tmp_path,
        "@inproceedings{paper, title = {Attention is all you need}, author = {Vaswani, A.}, booktitle = {NIPS}, "
        "year = 2017}\n"
        "@misc{preprint, title = {Attention Is All You Need}, author = {Ashish Vaswani}, year = 2023, "
        "eprint = {1706.03762}, archiveprefix = {arXiv}}\n",
    )
    assert messages["preprint"] == [f"the same paper as 'paper' ({tmp_path / 'refs.bib'}:1), which is from 2017"]


def test_what_a_journal_prints_again_and_again_is_no_duplicate(tmp_path: Path) -> None:
    fields = "author = {Ericson, K.}, title = {Editorial}, journal = {Bee World}, year = 2001"
    messages = _duplicates(
        tmp_path,
        f"@article{{spring, {fields}, volume = 1, pages = {{1}}}}\n"
        f"@article{{autumn, {fields}, volume = 1, pages = {{81--82}}}}\n"
        f"@article{{again, {fields}, volume = 1, pages = {{81}}}}\n",
    )
    assert messages["autumn"] == []
    assert "the same paper as 'autumn'" in messages["again"][0]


def test_members_of_a_set_and_related_entries_are_cited_with_it(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(
        "@set{both, entryset = {one,two}}\n"
        "@book{one, title = {One}, author = {Lee, A.}, year = 2001, related = {old}}\n"
        "@book{two, title = {Two}, author = {Lee, A.}, year = 2002}\n"
        "@book{old, title = {Old}, author = {Lee, A.}, year = 1999}\n"
    )
    (tmp_path / "draft.tex").write_text("\\begin{document}\nSee \\cite{both}.\n\\bibliography{refs}\n\\end{document}\n")
    report = check_references(tmp_path / "draft.tex", use_library=False)
    assert [problem.rule for reference in report.references for problem in reference.problems] == []


def test_an_entry_that_stands_twice_is_told_once(tmp_path: Path) -> None:
    entry = "@misc{array, title = {Array programming}, doi = {10.1000/array}}\n"
    messages = _duplicates(
        tmp_path, f"@misc{{wrong, title = {{All you need}}, doi = {{10.1000/array}}}}\n{entry}{entry}"
    )
    assert len(messages["wrong"]) == 1
    assert messages["array"] == []  # of the second one; its key is reported


@pytest.mark.parametrize(
    ("name", "draft"),
    [
        (
            "draft.tex",
            "\\begin{document}\nBees sleep \\cite{cited}.\n\\begin{thebibliography}{9}\n"
            "\\bibitem{cited} W. Kaiser, Busy bees need rest, too, J. Comp. Physiol. 163 (1988).\n"
            "\\bibitem[Roe(1999)]{spare} A. Roe, Wasps, Bee World 1 (1999).\n\\end{thebibliography}\n\\end{document}\n",
        ),
        (
            "draft.md",
            "---\nreferences:\n- id: cited\n  title: Busy bees need rest, too\n- id: spare\n  title: Wasps\n---\n"
            "Bees sleep [@cited].\n",
        ),
        ("draft.typ", '#bibliography("refs.yml")\nBees sleep @cited.\n'),
    ],
)
def test_entries_that_stand_in_the_draft_may_be_uncited(tmp_path: Path, name: str, draft: str) -> None:
    (tmp_path / name).write_text(draft)
    (tmp_path / "refs.yml").write_text("cited:\n  title: Busy bees need rest, too\nspare:\n  title: Wasps\n")
    report = check_references(tmp_path / name, use_library=False)
    uncited = [ref.entry.key for ref in report.references if "uncited" in {problem.rule for problem in ref.problems}]
    assert uncited == ["spare"]


def test_a_bibliography_of_typst(tmp_path: Path) -> None:
    (tmp_path / "refs.yml").write_text(
        "bees:\n  type: article\n  title: TODO\n  author: Kaiser, Walter\n  date: 2040\n"
    )
    [reference] = check_references(tmp_path / "refs.yml", use_library=False).references
    assert {problem.rule for problem in reference.problems} == {"placeholder", "future-year"}
    (tmp_path / "_quarto.yml").write_text("project:\n  type: website\nbibliography: refs.bib\n")
    assert not check_references(tmp_path / "_quarto.yml", use_library=False).references
    with pytest.raises(UserError, match=r"gone\.yaml: No such file"):
        check_references(tmp_path / "gone.yaml", use_library=False)
