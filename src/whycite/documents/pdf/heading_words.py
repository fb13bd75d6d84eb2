"""What headings of papers say, squeezed to letters and digits in lower case."""

from __future__ import annotations

import re

__all__ = ["KNOWN", "REFERENCES", "TOP", "is_capitals", "squeezed"]

_PARTS = re.compile(r"[^\W_]+")

REFERENCES = frozenset(
    """
    references reference bibliography literaturecited workscited referencesandnotes notesandreferences referencelist
    literature listofreferences citedliterature referencescited literaturverzeichnis
    """.split()
)
TOP = REFERENCES | frozenset(
    """
    abstract introduction background relatedwork methods materialsandmethods experiments results discussion
    resultsanddiscussion conclusion conclusions acknowledgements acknowledgments
    """.split()
)
KNOWN = TOP | frozenset(
    """
    summary motivation overview preliminaries relatedworks previouswork priorwork literaturereview stateoftheart theory
    model models method methodology materialandmethods methodsandmaterials patientsandmethods onlinemethods approach
    experimental experimentalsection experimentalprocedures experimentalsetup experimentaldesign experimentalresults
    experiment experimentation data datasets dataandmethods participants procedure measures statisticalanalysis
    analysis evaluation implementation result resultsandconclusions findings discussions generaldiscussion
    discussionandconclusion discussionandconclusions discussionandfuturework concludingremarks conclusionandfuturework
    conclusionsandfuturework conclusionanddiscussion conclusionsanddiscussion summaryandconclusions futurework
    futuredirections limitations outlook openquestions acknowledgment acknowledgement appendix appendices
    supplementarymaterial supplementarymaterials supplementaryinformation supplementarydata supportinginformation
    supplementalmaterial supplementalinformation authorcontributions authorscontributions contributors funding
    fundingstatement fundinginformation financialdisclosure competinginterests competinginterest conflictofinterest
    conflictsofinterest conflictofintereststatement declarationofinterest declarationofcompetinginterest declarations
    dataavailability dataavailabilitystatement codeavailability dataandcodeavailability
    datamaterialsandsoftwareavailability ethics ethicsstatement ethicalconsiderations ethicsapproval informedconsent
    authorsummary significance significancestatement highlights broaderimpact casestudy casereport
    additionalinformation additionalfiles keyresourcestable abbreviations authorinformation reproducibility
    """.split()
)


def squeezed(text: str) -> str:
    """Letters and digits in lower case, nothing else."""
    return "".join(_PARTS.findall(text)).lower()


def is_capitals(text: str) -> bool:
    """Whether words are set in capitals."""
    if sum(map(str.islower, text[:20])) > 3:
        return False
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= 4 and sum(map(str.isupper, letters)) > 0.85 * len(letters)
