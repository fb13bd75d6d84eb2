"""A reference beside a record of the same paper."""

from dataclasses import replace

import pytest

from whycite.documents.model import Publication, Reference
from whycite.references.checking import compare_records
from whycite.references.comparison import authors_agree, titles_agree, venues_agree

BEES = Reference(
    "bees",
    "Busy bees need rest, too: behavioural and electromyographical sleep signs in honeybees",
    ("Kaiser, Walter", "Steiner-Kaiser, Jana"),
    1988,
    "Journal of Comparative Physiology",
    doi="10.1007/bf00603841",
)
WASPS = Reference("wasps", "Wasps at night", ("Doe, Ann",), 1990, doi="10.1000/wasps")


@pytest.mark.parametrize(
    ("title", "recorded"),
    [
        ("Busy bees need rest, too", "Busy Bees Need Rest, too."),
        ("Busy bees need rest", "Busy bees need rest: sleep signs in honeybees"),
        (
            "Structure and function of the ocean microbiome",
            "Ocean plankton. Structure and function of the ocean microbiome",
        ),
        ("Hippocampal-dependant tasks", "Hippocampal-dependent tasks"),
        ("The correlation of mental abilities", "The correlation of mental abilities1"),
        ("Effect on signs and symptoms", "Effect of signs and symptoms"),
        ("Time-series characteristics", "Timeseries characteristics"),
        ("", "Anything"),
    ],
)
def test_titles_in_two_forms_agree(title: str, recorded: str) -> None:
    assert titles_agree(title, recorded)
    assert titles_agree(recorded, title)


@pytest.mark.parametrize(
    ("title", "recorded"),
    [
        ("Chain of thought inference in language models", "Chain of thought reasoning in language models"),
        ("Sleep in bees, part 1", "Sleep in bees, part 2"),
        ("Wasps at night", "Busy bees need rest"),
        (  # a few words of one are in the other
            "A single class of olfactory neurons mediates behavioural responses to a sex pheromone",
            "Male esterase 6 catalyzes the synthesis of a sex pheromone in Drosophila melanogaster females",
        ),
    ],
)
def test_titles_of_two_papers_disagree(title: str, recorded: str) -> None:
    assert not titles_agree(title, recorded)


@pytest.mark.parametrize(
    ("authors", "recorded"),
    [
        (("van der Berg, J.", "Li, X."), ("Berg, Jan van der", "Li, Xin")),
        (("Burgess Neil", "Maguire, E."), ("Burgess, N", "Maguire, EA")),
        (("VanRullen, R",), ("Van Rullen, R",)),
        (("Müller, A.",), ("Mueller, A.",)),
        (("Kaiser, W",), ("Kaiser, W", "Steiner, J")),  # cut off
        (("MICrONS Consortium",), ("Bae, J",)),
        (("Steiner, J", "Kaiser, W"), ("Kaiser, W", "Steiner, J")),
    ],
)
def test_authors_in_two_forms_agree(authors: tuple[str, ...], recorded: tuple[str, ...]) -> None:
    assert authors_agree(authors, recorded) == ""


def test_the_author_who_is_not_one_is_named() -> None:
    assert authors_agree(("Doe, Ann", "Steiner, J"), ("Kaiser, W", "Steiner, J")) == "Doe, Ann"
    assert authors_agree(("Kaiser, W", "Doe, Ann"), ("Kaiser, W", "Steiner, J")) == "Doe, Ann"
    assert authors_agree(("Doe, Ann", "Company, C."), ("Kaiser, W", "Company, C")) == "Doe, Ann"  # a person's name


def _rules(reference: Reference, *records: Reference) -> tuple[list[str], bool | None]:
    problems, agrees = compare_records(reference, records, "your library")
    return [problem.rule for problem in problems], agrees


def test_a_reference_is_compared_field_by_field() -> None:
    assert _rules(BEES, BEES) == ([], True)
    assert _rules(replace(BEES, year=1989), BEES) == (["year-differs"], False)
    assert _rules(replace(BEES, authors=("Doe, Ann",)), BEES) == (["author-differs"], False)
    assert _rules(replace(BEES, title="Wasps at night, again"), BEES) == (["title-differs"], False)
    assert _rules(replace(BEES, doi="10.1000/wasps"), WASPS, BEES) == (["doi-differs"], False)


def test_authors_that_are_left_out_are_noted() -> None:
    alone = replace(BEES, authors=BEES.authors[:1])
    assert _rules(alone, BEES) == (["authors-missing"], True)
    assert _rules(replace(alone, publication=Publication(et_al=True)), BEES) == ([], True)
    assert _rules(BEES, alone) == ([], True)


def test_a_paper_that_is_not_known_is_neither_confirmed_nor_denied() -> None:
    assert _rules(BEES, WASPS) == ([], None)
    assert _rules(BEES) == ([], None)


def test_a_doi_is_added_from_a_record_with_the_same_title() -> None:
    [problem], agrees = compare_records(replace(BEES, doi=""), [BEES], "your library")
    assert (problem.rule, problem.correction, agrees) == ("missing-doi", "10.1007/bf00603841", True)


def test_a_preprint_is_compared_with_what_it_became() -> None:
    preprint = replace(BEES, doi="10.1101/2020.01.01.123456", year=1986)
    assert _rules(preprint, preprint, BEES) == (["published-version"], True)
    assert _rules(preprint, BEES) == (["published-version"], True)


def test_a_preprint_gets_its_own_doi() -> None:
    record = replace(BEES, doi="10.1101/2020.01.01.123456", venue="bioRxiv")
    reference = replace(BEES, doi="", venue="bioRxiv")
    [problem], agrees = compare_records(reference, [record], "your library")
    assert (problem.rule, problem.correction, agrees) == ("missing-doi", "10.1101/2020.01.01.123456", True)
    assert _rules(reference, BEES) == (["published-version"], True)
    assert _rules(replace(reference, arxiv="2001.00001"), record) == ([], True)


def test_a_preprint_may_change_its_title() -> None:
    preprint = replace(BEES, doi="10.1101/2020.01.01.123456")
    assert _rules(replace(preprint, title="How the honeybees of a hive sleep"), preprint) == ([], False)  # unknown
    assert _rules(replace(preprint, title="Wasps at night"), preprint) == (["title-differs"], False)


def test_editions_talks_and_data_keep_their_title() -> None:
    book = Reference("book", "Bayesian Data Analysis", ("Gelman, A", "Carlin, J"), 1995)
    assert _rules(replace(book, year=2013), book) == ([], False)
    talk = replace(BEES, doi="10.1000/talk", year=1987)
    assert _rules(talk, BEES) == ([], None)
    data = replace(BEES, doi="10.5061/dryad.abc")
    assert _rules(data, BEES)[0] == []


def test_the_doi_of_another_edition_is_not_certain() -> None:
    first = Reference("book", "Bees of the World", ("Doe, Ann",), 1995, "CRC Press", doi="10.1201/9780429258411")
    own = replace(first, id="own", doi="")
    (same,), _ = compare_records(own, [first], "your library")
    assert same.correction == "10.1201/9780429258411"
    (other,), _ = compare_records(replace(own, year=2013), [first], "your library")
    assert (other.rule, other.correction) == ("missing-doi", "")
    assert other.message == "the DOI may be 10.1201/9780429258411 of “CRC Press, 1995”, says your library"


@pytest.mark.parametrize(
    ("venue", "recorded", "agree"),
    [
        ("J Neurosci", "The Journal of Neuroscience", True),
        ("PNAS", "Proceedings of the National Academy of Sciences of the United States of America", True),
        (
            "Proc. Natl. Acad. Sci. U. S. A.",
            "Proceedings of the National Academy of Sciences of the United States of America",
            True,
        ),
        ("Science", "Science (New York, N.Y.)", True),
        ("PLoS Med", "PLOS Medicine", True),
        ("NAACL", "Proceedings of NAACL", True),
        (
            "Proc. of the 2019 Conference of the NAACL",
            "Proceedings of the 2019 Conference of the North American Chapter of the Association for Computational "
            "Linguistics: Human Language Technologies, Volume 1 (Long and Short Papers)",
            True,
        ),
        ("NIPS", "Advances in neural information processing systems 30", True),
        ("ICML", "Proceedings of the 35th International Conference on Machine Learning", True),
        ("9th Python in Science Conference", "Proceedings of the 9th Python in Science Conference", True),
        (
            "Proceedings of the 2010 SIAM International Conference on Data Mining",
            "SIAM Intl. Conf. on Data Mining",
            True,
        ),
        (
            "International Conference on Medical Image Computing and Computer-Assisted Intervention",
            "Medical Image Computing and Computer-Assisted Intervention – MICCAI 2015. Lecture Notes in Comput. Sci.",
            True,
        ),
        ("Neural Networks, IEEE Transactions on", "IEEE Transactions on Neural Networks", True),
        ("IEEE Transactions on Biomedical Engineering", "IEEE Transactions on Bio-Medical Engineering", True),
        ("Journal of Machine Learning Research: JMLR", "Journal of Machine Learning Research", True),
        ("Nature Commun.", "Nature Communications", True),
        ("", "Nature", True),
        ("ACL", "Proceedings of NAACL", False),
        ("Findings of ACL", "ACL", False),
        (
            "International Conference on Machine Learning",
            "International Conference on Machine Learning and Applications",
            False,
        ),
        (
            "Proceedings of the 9th International Conference on Computer Vision Theory and Applications",
            "International Conference on Computer Vision",
            False,
        ),
        (
            "International Joint Conference on Artificial Intelligence and the European Conference on AI",
            "IJCAI",
            True,
        ),
        ("ICML", "ICML Workshop on Data Mining", False),
        ("Neural Networks", "Proceedings of the International Joint Conference on Neural Networks", False),
        ("Cambridge University Press", "MIT Press", False),
        ("J. R. Stat. Soc. Series B", "J. R. Stat. Soc. Series A", False),
        ("Proceedings of the Royal Society A", "Proceedings of the Royal Society B", False),
        ("Nature Medicine", "eLife", False),
        ("Nature", "Nature Medicine", False),
        ("Nature", "Neuron", False),
    ],
)
def test_names_of_one_journal(venue: str, recorded: str, agree: bool) -> None:
    assert venues_agree(venue, recorded) is agree
    assert venues_agree(recorded, venue) is agree
