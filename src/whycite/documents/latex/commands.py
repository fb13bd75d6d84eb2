"""What is known of LaTeX commands: which cite, which arguments are prose, which name a section."""

from __future__ import annotations

import re

from whycite.documents.latex.cursor import Cursor, LatexRange
from whycite.text.accents import untex

__all__ = [
    "ARGUMENTS",
    "CROSS_REFERENCES",
    "ENVIRONMENT_ARGUMENTS",
    "FLOATS",
    "INPUTS",
    "MATH_ENVIRONMENTS",
    "PICTURES",
    "SECTIONS",
    "TABULARS",
    "WRITER_NOTES",
    "is_citation",
    "looks_like_citation",
    "read_citation",
]


SECTIONS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
    "addchap": 1,
    "addsec": 2,
    "bmhead": 3,
}

INPUTS = {  # how many directory arguments stand before the file's
    "input": 0,
    "include": 0,
    "subfile": 0,
    "subfileinclude": 0,
    "import": 1,
    "subimport": 1,
    "inputfrom": 1,
    "subinputfrom": 1,
    "includefrom": 1,
    "subincludefrom": 1,
    "InputIfFileExists": 0,
}

# Cross references: a reader sees a number there.
CROSS_REFERENCES = frozenset(
    "ref eqref autoref cref Cref cpageref pageref vref Vref nameref fref Fref sref subref labelcref "
    "namecref nameCref thref fullref figref tabref secref Autoref crefrange Crefrange".split()
)

# Notes of writers to each other: not part of the text.
WRITER_NOTES = frozenset("todo todonote fixme FIXME marginpar marginnote missingfigure listoftodos".split())


def _parse_table(table: str) -> dict[str, str]:
    rows = (line.split() for line in table.splitlines() if line.strip())
    return {name: spec for spec, *names in rows for name in names}


# The arguments after a command: o an optional one, p one in parentheses, d one that is not prose, t one that is.
# Commands that are not listed lose their name and their optional arguments, and their groups are read as text.
ARGUMENTS = _parse_table("""
    d acmArticle acmBooktitle acmConference acmDOI acmISBN acmJournal acmMonth acmNumber acmPrice acmVolume acmYear
    d addtocategory address accepted alph Alph arabic AtBeginDocument AtEndDocument authorrunning bibdata bibinput
    d bibliographystyle bibpunct bibstyle captionsetup citereset citestyle cline color
    d copyrightyear correspondingauthor cortext date ead email enlargethispage ExecuteBibliographyOptions
    d externaldocument fntext fontencoding fontfamily fontseries fontshape symlabel
    d geometry glossary graphicspath hphantom hspace hyphenation hypersetup index institution
    d journal journalname label linespread loadglsentries lstset markright MSC newcounter newlength newsavebox nocite
    d nonumnote orcid pacs PACS pagecolor pagenumbering pagestyle phantom pgfplotsset published received
    d refstepcounter revised roman Roman runninghead runningtitle selectlanguage setcitestyle setcopyright
    d setdefaultlanguage setstretch shortauthors sisetup stepcounter subjclass tcbset textwidth thanks theoremstyle
    d thispagestyle tikzset titlerunning tnotetext tocauthor toctitle usecounter usetikzlibrary value vphantom
    d arrayrulecolor bibentry deleted VerbatimInput verbatiminput vspace
    opd cmidrule
    od ccsdesc rowcolor cellcolor columncolor
    od affil affiliation author citeindex correspondence documentclass includegraphics includepdf includestandalone
    od includesvg institute keywords LoadClass lstinputlisting bibitem DeclareBibliographyDriver newmdenv
    od cfoot chead fancyfoot fancyhead lfoot lhead rfoot rhead SetKwInput
    o linebreak nolinebreak nopagebreak pagebreak printbibliography tableofcontents
    dd addtocounter addtolength colorlet crefname Crefname DeclareAcronym DeclareFieldFormat DeclareMathOperator
    dd DeclareNameAlias DeclareUnicodeCharacter defcitealias fontsize hyperdef lstdefinelanguage
    dd lstdefinestyle markboth newcolumntype newglossaryentry numberwithin setcounter setlength settoheight settowidth
    dd counterwithin counterwithout titlespacing DeclareCaptionFormat addtocontents
    odd rule DeclareSIUnit pdfbookmark
    ddd addcontentsline definecolor DeclarePairedDelimiter
    oddd newacronym newfloat
    dodo newtheorem
    doodd lstnewenvironment newenvironmentx provideenvironment
    dddd NewDocumentEnvironment usefont
    dodddd titleformat
    odood newtcolorbox
    odt textcolor parbox
    dt colorbox foreignlanguage href hyperlink hypertarget raisebox
    dot rotatebox scalebox
    ddt fcolorbox multicolumn resizebox
    dt adjustbox
    odot multirow
    oot framebox makebox
    ot hyperref
    td replaced texorpdfstring
    dtd ifthenelse iftoggle
""")

MATH_ENVIRONMENTS = frozenset(
    base + star
    for base in (
        "equation align gather multline eqnarray displaymath math alignat flalign dmath dgroup IEEEeqnarray "
        "subequations xalignat xxalignat darray empheq aligned split cases array gathered mathpar prooftree"
    ).split()
    for star in ("", "*")
)

FLOATS = frozenset(
    base + star
    for base in (
        "figure table wrapfigure wraptable sidewaysfigure sidewaystable SCfigure SCtable floatingfigure marginfigure "
        "margintable deluxetable longtable listing algorithm algorithm2e algorithmic teaserfigure subfigure subtable "
        "threeparttable ctable supertabular xtabular scheme chart graph rotatetable"
    ).split()
    for star in ("", "*")
)

TABULARS = frozenset(
    base + star
    for base in (
        "tabular tabularx tabulary tabu longtabu tblr longtblr deluxetable longtable supertabular xtabular"
    ).split()
    for star in ("", "*")
)

# Drawings and code: nothing in them is prose.
PICTURES = frozenset(
    "tikzpicture pgfpicture picture pspicture asy axis forest circuitikz tikzcd xy feynmandiagram chemfig "
    "prooftree tabbing gnuplot dot2tex dot sagesilent CCSXML IEEEkeywords keyword keywords".split()
)

ENVIRONMENT_ARGUMENTS = {
    "minipage": "oood",
    "wrapfigure": "odod",
    "wraptable": "odod",
    "tabular": "od",
    "tabular*": "dod",
    "tabularx": "dod",
    "tabulary": "dod",
    "longtable": "od",
    "deluxetable": "d",
    "deluxetable*": "d",
    "supertabular": "d",
    "array": "od",
    "multicols": "d",
    "multicols*": "d",
    "adjustwidth": "dd",
    "spacing": "d",
    "subfigure": "od",
    "subtable": "od",
    "list": "dd",
    "thebibliography": "d",
    "otherlanguage": "d",
    "otherlanguage*": "d",
    "alignat": "d",
    "alignat*": "d",
    "adjustbox": "d",
    "tabu": "d",
    "columns": "o",
    "column": "d",
    "block": "t",
    "frame": "o",
    "savebox": "d",
    "lrbox": "d",
    "labeling": "d",
    "enumerate": "o",
    "itemize": "o",
    "description": "o",
    "figure": "o",
    "figure*": "o",
    "table": "o",
    "table*": "o",
    "floatingfigure": "od",
    "comment": "",
}


_BASES = "auto paren text foot footfull super smart full short new online block i inline p t"
_ENDINGS = (
    "p t alp alt alpt author authors authorfull year yearpar year* title date url num n talias palias text* a A NP N "
    "yearNP authorNP fullauthor full short ps fullauthorNP online issn doi poss posst s al"
)
_CITE_COMMANDS = frozenset(
    ["cite", "cites", "Cite", "Cites"]
    + [f"{base}cite{plural}" for base in _BASES.split() for plural in ("", "s")]
    + [f"{base.capitalize()}cite{plural}" for base in _BASES.split() for plural in ("", "s")]
    + [f"{head}{end}" for head in ("cite", "Cite", "shortcite", "fullcite") for end in _ENDINGS.split()]
)
_NOT_CITING = frozenset(
    "nocite shortcites citestyle setcitestyle citereset bibcite citation defcitealias citetext citeform citeleft "
    "citeright citepunct citemid citelist citeindextrue citeindexfalse DeclareCiteCommand citename citesort citedash "
    "citeprepunct renewcite AtEveryCite AtEveryCitekey multicitedelim AtNextCite citesetup citetrackertrue".split()
)
_NOT_IN_KEY = re.compile(r"[\s{}\\]")  # what no key holds: a brace was not closed
_COMMENT = re.compile(r"(?<!\\)%[^\n\r]*(?:\r\n|\n|\r|$)")


def is_citation(name: str) -> bool:
    """Whether a control word is one of the known cite commands."""
    return name in _CITE_COMMANDS and name not in _NOT_CITING


def looks_like_citation(name: str) -> bool:
    """Whether an unknown control word has the look of a cite command."""
    return "cite" in name.lower() and name not in _NOT_CITING and "@" not in name


def read_citation(cursor: Cursor, name: str) -> tuple[tuple[str, ...], str, list[LatexRange]]:
    """The keys and the printed form of the citation whose command was just read, and the ranges read.

    No ranges: no argument follows, so it was no citation.
    """
    if name.endswith("volcite"):  # the volume comes first
        cursor.group()
    is_plural = name.endswith("cites")
    prenote, postnote = "", ""
    ranges: list[LatexRange] = []
    if is_plural:
        for _ in range(2):
            if note := cursor.optional_argument("("):
                prenote, postnote = (_note_text(note), "") if not ranges else (prenote, _note_text(note))
                ranges.append(note)
    keys: list[str] = []
    forms: list[str] = []
    while True:
        if angle := cursor.optional_argument("<"):  # apacite's note before the citation
            prenote = _note_text(angle)
        notes: list[LatexRange] = []
        while len(notes) < 2 and (note := cursor.optional_argument()):
            notes.append(note)
        group = cursor.short_group()
        if group is None:
            break
        ranges += [*notes, group]
        group_keys = [
            key
            for part in _COMMENT.sub("", group.text).split(",")
            if (key := part.strip()) and not _NOT_IN_KEY.search(key)
        ]
        keys += group_keys
        head = _note_text(notes[0]) if len(notes) == 2 else ""
        tail = _note_text(notes[-1]) if notes else ""
        forms.append(f"{head} " * bool(head) + "; ".join(group_keys) + f", {tail}" * bool(tail))
        if not is_plural:
            break
    marker_text = f"{prenote} " * bool(prenote) + "; ".join(forms) + f", {postnote}" * bool(postnote)
    return tuple(dict.fromkeys(keys)), f"[{marker_text}]", ranges


def _note_text(note: LatexRange) -> str:
    return untex(note.text).strip()
