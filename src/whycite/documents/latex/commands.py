"""What the walker knows of LaTeX commands: which arguments are prose, which are not, which name a section."""

from __future__ import annotations

__all__ = [
    "ARGUMENTS",
    "ENVIRONMENT_ARGUMENTS",
    "FLOATS",
    "INPUTS",
    "MATH_ENVIRONMENTS",
    "NOTES",
    "PICTURES",
    "REFERENCES",
    "SECTIONS",
    "TABULARS",
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
REFERENCES = frozenset(
    "ref eqref autoref cref Cref cpageref pageref vref Vref nameref fref Fref sref subref labelcref "
    "namecref nameCref thref fullref figref tabref secref Autoref crefrange Crefrange".split()
)

# Notes of writers to each other: not part of the text.
NOTES = frozenset("todo todonote fixme FIXME marginpar marginnote missingfigure listoftodos".split())


def _spec(table: str) -> dict[str, str]:
    rows = (line.split() for line in table.splitlines() if line.strip())
    return {name: spec for spec, *names in rows for name in names}


# The arguments after a command: o an optional one, p one in parentheses, d one that is not prose, t one that is.
# Commands that are not listed lose their name and their optional arguments, and their groups are read as text.
ARGUMENTS = _spec("""
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
