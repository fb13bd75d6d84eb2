"""What a passage is to its paper: its own finding, a hypothesis or aim, what others found, method, or background.

Only its own findings back a claim. The rules look at how the sentence speaks of itself, whether it cites, and the type
of its section, in this order. A passage that quotes the claim is no evidence for it.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from whycite.text.tokens import clean, terms
from whycite.verify.features import CITATION_MARKER
from whycite.verify.verification import Role

__all__ = ["cited_source", "is_hypothesis", "quotes", "role_of"]

_TEST = (
    r"(?:test|ask|determine|examine|investigate|explore|assess|evaluate|address|establish|learn|study|see|know|"
    r"understand|find out|clarify|verify|check|rule out|confirm)"
)
_MORE_RESEARCH = r"(?:future|further|more) (?:studies|study|work|research|investigations?)"
# A sentence that names what it says as a hypothesis, a question or a plan.
_HYPOTHESIS = re.compile(
    r"\b(?:hypothesi[sz]ed?|hypothesis (?:is|was|that)|hypotheses (?:that|about|concerning)|"
    r"(?:our|these|the|following|study|research) hypotheses|speculated?|postulated?|conjectured?|"
    r"(?:we|I|they|theory|models?|hypothesis) predict(?:ed|s)? that|"
    r"we (?:next |then |therefore |first |also |further )?(?:reasoned|suspect(?:ed)?|wondered|asked|tested|"
    r"expect(?:ed)?|anticipated|assumed|propose) (?:that|whether|if)|"
    r"in (?:this|a|the|our) hypothetical|(?:is|seems) conceivable that|"
    rf"(?:to|can|will|could|would|aimed to|sought to|set out to) {_TEST}\b[^.]{{0,40}}\b"
    r"(?:whether|if|how|the (?:hypothesis|effect|role|impact|possibility|idea))\b|"
    r"(?:it is|it's|is|are|was|were|remains?|still|yet) (?:(?:still|currently|largely|as yet|also|therefore) )?"
    r"(?:unknown|unclear|uncertain|debated|controversial|not (?:known|clear|understood|yet known)|an open question|"
    r"poorly understood|to be (?:determined|shown|established|seen|tested))|"
    rf"(?:no consensus|open question|{_MORE_RESEARCH}|"
    r"the (?:aim|purpose|goal) of (?:this|the|our|these) |our (?:aim|goal|objective)|we aim(?:ed)? to|remains? to be|"
    r"would be expected|one possibility|possible explanation|tempting to speculate|raises the (?:question|possibility)|"
    r"little is known|it has been (?:proposed|hypothesi[sz]ed|speculated) that|cannot exclude|"
    r"we do not know|not been (?:tested|investigated|studied|examined)))\b|"
    r"^(?:whether|if|does|do|is|are|can|could) .*\?$",
    re.IGNORECASE,
)
# A sentence that tells what was studied, but not what came of it.
_RELATION = (
    r"(?:effects?|impacts?|influence|roles?|associations?|relations?|relationships?|links?|correlations?|differences?|"
    r"efficacy|effectiveness|safety|feasibility|contributions?|consequences|ability|extent|dependence)"
)
_STUDIED = (
    r"(?:studie[sd]|investigate[sd]?|examine[sd]?|assess(?:es|ed)?|evaluate[sd]?|explore[sd]?|analy[sz]e[sd]?|"
    r"compare[sd]?|test(?:s|ed)?|address(?:es|ed)?|consider(?:s|ed)?|(?:reports?|reported|describe[sd]?)(?: on)? the)"
)
_AIM = re.compile(
    rf"\b(?:we|study|trial|paper|article|work|analysis|report) (?:\w+ ){{0,2}}{_STUDIED} (?:\w+ ){{0,4}}?{_RELATION} "
    r"(?:of|between|on|among|that|to|in|with)\b|"
    rf"\b{_RELATION} (?:of|between|on|among)\b.* (?:was|were|is|are|will be) (?:\w+ly )?{_STUDIED}\b",
    re.IGNORECASE,
)
# Words by which a sentence tells what came of it.
_OUTCOME = re.compile(
    r"\b(?:f(?:ind|inds|ound)|observed?|see|saw|show(?:s|n|ed)?|demonstrat\w+|reveal\w*|identif(?:y|ied|ies)|conclude[sd]?|"
    r"suggest\w*|indicat\w+|detect\w*|result(?:ed|s|ing) in|led to|leads? to|had|has|no|not|neither|nor|"
    r"significant(?:ly)?|(?:in|de)crease[sd]?|higher|lower|greater|larger|smaller|more|less|fewer|better|worse|"
    r"similar(?:ly)?|comparable|equal(?:ly)?|differ(?:ed|s)?|improve[sd]?|reduce[sd]?)\b|\d ?%|\bp ?[<=>≤]",
    re.IGNORECASE,
)
# A call for more research at the end of a sentence, which takes nothing from what comes before it.
_CALL_FOR_RESEARCH = re.compile(
    rf"(?:[,;:] |,? (?:and|but|although|though) )[^,;:]*\b{_MORE_RESEARCH}\b[^;:]*$", re.IGNORECASE
)
# A sentence that speaks of what this paper did or saw.
_OWN_FINDING = re.compile(
    r"\b(?:we|our (?:results?|data|findings?|study|analys[ie]s|experiments?|model|work)|"
    r"(?:this|the present|the current) (?:study|work|paper|report|trial|analysis|article)|"
    r"these (?:results|data|findings|observations|experiments)|here,? we|in this (?:study|work|paper|trial)|"
    r"I (?:show|find|found|demonstrate|argue|report))\b|\((?:fig(?:ure|\.)?s?|tables?|suppl)",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\b(?:consistent with|as predicted|confirm\w*|support\w*|contrary to|in line with|as expected|in agreement with|"
    r"reject\w*|refut\w*|disprov\w*|contradict\w*|corroborat\w*|in (?:accordance|keeping) with|"
    r"(?:argues?|speaks?|evidence) against)\b",
    re.IGNORECASE,
)
# What was found, after what it was done for: "To test whether …, we …, and found that …".
_FINDING = re.compile(
    r"\b(?:(?:we|which|and|that|this|it) (?:\w+ ){0,2}(?:found|observed|showed|shows|saw|demonstrated|revealed|"
    r"identified|indicated|confirmed|detected)|found (?:that|no)|revealed that|showed that|had (?:no|little|an?)|"
    r"resulted in|(?:was|were) significantly|significantly (?:more|less|higher|lower|increased|decreased|reduced))\b|"
    r"[(,] ?p ?[<=>≤]",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:previous(?:ly)?|prior|earlier|recent|other|several|numerous|many) (?:\w+ ){0,2}"
    r"(?:stud(?:y|ies)|work|reports?|research|investigations?|authors|groups|trials|evidence|literature|shown|reported|"
    r"described|published|demonstrated|found)\b|"
    r"\b(?:has|have) been (?:\w+ )?(?:shown|reported|demonstrated|found|observed|described|established|suggested|"
    r"documented|implicated|associated|linked)\b|"
    r"\b(?:it is|is) (?:well )?(?:known|established|accepted|thought|believed) (?:that|to)\b|"
    r"\bet al\b|\b(?:and|&) (?:colleagues|co-?workers)\b|\baccording to\b|\bothers have\b|"
    r"\bthey (?:also |then |further )?(?:found|showed|demonstrated|argued?|concluded|proposed) that\b",
    re.IGNORECASE,
)
# "Yarowsky applied his method to …": somebody else's work, told with the name.
_NAMED_OTHERS = re.compile(
    r"^(?!(?:We|Our|The|This|These|Each|One)\b)[A-Z][a-z]+(?: and [A-Z][a-z]+)? (?:\w+ )?\w+(?:ed|s) (?:his|her|their) "
    r"(?:own )?(?:methods?|approach|models?|algorithms?|systems?|theory|analysis|framework|technique|procedure)\b"
)
# "Winer et al., 2019", "Winer (2019)" and "(Winer 2019)", but neither "the ACE 2004 corpus" nor "in March 2019".
# A name is taken whole or not at all: otherwise a list of countries would be tried in billions of ways.
_AUTHOR = r"[A-Z](?=[\w'’-]*[a-z])[\w'’-]++"
_YEAR = r"(?:1[89]|20)\d\d"
_SOURCE = re.compile(
    rf"(?P<name>{_AUTHOR})(?: et al\.?| and {_AUTHOR}|(?:, {_AUTHOR})* (?:and|&) {_AUTHOR}),? \(?(?P<year>{_YEAR})|"
    rf"(?P<single>{_AUTHOR}) \((?P<single_year>{_YEAR})[a-z]?\)|"
    rf"[(\[;](?:[^()\[\];]* )?(?P<inside>{_AUTHOR}),? (?P<inside_year>{_YEAR})[a-z]?[;)\],]"
)
_METHOD = re.compile(
    r"\b(?:(?:was|were) (?:\w+ly )?(?:measured|performed|used|obtained|purchased|collected|incubated|randomi[sz]ed|"
    r"recorded|analy[sz]ed|calculated|prepared|stained|assigned|recruited|treated|washed|added|cultured|carried out)|"
    r"we (?:used|performed|measured|collected|recorded|applied|recruited|randomi[sz]ed|analy[sz]ed|employed))\b",
    re.IGNORECASE,
)
_BACKGROUND_SECTIONS = frozenset({"introduction", "related work"})
_FINDING_SECTIONS = frozenset({"result", "experiment", "abstract", "conclusion"})


def is_hypothesis(sentence: str) -> bool:
    """Whether a sentence names what it says as a hypothesis, a question or a plan, and not as what came of it."""
    statement = _CALL_FOR_RESEARCH.sub("", sentence)
    named = _HYPOTHESIS.search(statement)
    if named is None:
        return _names_only_an_aim(statement)
    return _CONFIRMED.search(statement) is None and _FINDING.search(statement, named.end()) is None


def _names_only_an_aim(sentence: str) -> bool:
    """Whether a sentence tells what was studied, but not what came of it."""
    aim = _AIM.search(sentence)
    return aim is not None and not _OUTCOME.search(sentence, aim.end()) and not _OUTCOME.search(sentence[: aim.start()])


def role_of(sentence: str, section_type: str | None = None, cites: bool = False) -> Role:
    """The role of a sentence in its paper; `cites` says that it has citations that its text may not show."""
    owns = _OWN_FINDING.search(sentence) is not None
    if is_hypothesis(sentence):
        return "hypothesis"
    is_told = cites or CITATION_MARKER.search(sentence) or _OTHERS.search(sentence) or _NAMED_OTHERS.search(sentence)
    if not owns and is_told:
        return "others"
    is_method = _METHOD.search(sentence) and not _FINDING.search(sentence) and section_type not in _FINDING_SECTIONS
    if section_type == "method" or is_method:
        return "method"
    if section_type in _BACKGROUND_SECTIONS and not owns:
        return "background"
    return "own"


def cited_source(sentence: str) -> str:
    """The first source that a sentence names by author and year, such as "Winer 2019"; "" if there is none."""
    match = _SOURCE.search(sentence)
    return " ".join(filter(None, match.groups())) if match else ""


_QUOTED = re.compile(r'"([^"]{20,1000})"')
_MIN_WORDS = 6  # shorter claims are said twice by chance
_SAME_SHARE = 0.9  # of the claim's words that must occur, in order: all but a word or two
_MAX_QUOTED_LENGTH = 3  # times the claim; a longer text says more than the claim


def quotes(claim: str, sentence: str) -> bool:
    """Whether a sentence has the claim in quotation marks."""
    claim_terms = terms(claim)
    return len(claim_terms) >= _MIN_WORDS and any(
        _is_same_text(claim_terms, terms(quoted)) for quoted in _QUOTED.findall(clean(sentence))
    )


def _is_same_text(claim_terms: list[str], quoted_terms: list[str]) -> bool:
    if not quoted_terms or len(quoted_terms) > _MAX_QUOTED_LENGTH * len(claim_terms):
        return False
    common = sum(
        block.size for block in SequenceMatcher(None, claim_terms, quoted_terms, autojunk=False).get_matching_blocks()
    )
    return common >= _SAME_SHARE * len(claim_terms)
