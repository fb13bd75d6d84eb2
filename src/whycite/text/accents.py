"""TeX accents and symbols as Unicode, and `untex`, which reads a short TeX string as plain text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["ACCENTS", "MATH_SYMBOLS", "SYMBOLS", "untex"]

# Accent command, a sign or a letter name, to the combining character it puts on the next letter.
ACCENTS: dict[str, str] = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307", '"': "\u0308",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "r": "\u030a", "c": "\u0327", "k": "\u0328", "d": "\u0323",
    "b": "\u0331", "t": "\u0361", "h": "\u0309", "f": "\u0311", "G": "\u030f", "U": "\u030e",
    "textcommabelow": "\u0326", "grave": "\u0300", "acute": "\u0301", "hat": "\u0302", "widehat": "\u0302",
    "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304", "overline": "\u0305", "breve": "\u0306",
    "dot": "\u0307", "ddot": "\u0308", "check": "\u030c", "vec": "\u20d7", "mathring": "\u030a",
}  # fmt: skip

# Control word to the text it prints outside formulas.
SYMBOLS: dict[str, str] = {
    "ss": "ß", "SS": "SS", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "dj": "đ", "DJ": "Đ", "th": "þ", "TH": "Þ",
    "ng": "ŋ", "NG": "Ŋ", "ij": "ĳ", "IJ": "Ĳ", "ldots": "…", "dots": "…", "textellipsis": "…", "S": "§",
    "P": "¶", "textsection": "§", "textparagraph": "¶", "copyright": "©", "textcopyright": "©",
    "textregistered": "®", "texttrademark": "™", "pounds": "£", "textsterling": "£", "euro": "€",
    "texteuro": "€", "EUR": "€", "textyen": "¥", "textcent": "¢", "textcurrency": "¤", "dag": "†", "ddag": "‡",
    "textdagger": "†", "textdaggerdbl": "‡", "textmu": "µ", "micro": "µ", "textohm": "Ω", "textdegree": "°",
    "degree": "°", "degrees": "°", "textcelsius": "℃", "textdiv": "÷", "texttimes": "×", "textpm": "±",
    "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾", "textonesuperior": "¹",
    "texttwosuperior": "²", "textthreesuperior": "³", "textordfeminine": "ª", "textordmasculine": "º",
    "textendash": "–", "textemdash": "—", "textquoteleft": "‘", "textquoteright": "’",
    "textquotedblleft": "“", "textquotedblright": "”", "textquotedbl": '"', "textquotesingle": "'",
    "quotesinglbase": "‚", "quotedblbase": "„", "guillemotleft": "«", "guillemotright": "»",
    "guillemetleft": "«", "guillemetright": "»", "guilsinglleft": "‹", "guilsinglright": "›", "lq": "‘",
    "rq": "’", "flqq": "«", "frqq": "»", "glqq": "„", "grqq": "“", "textasciitilde": "~",
    "textasciicircum": "^", "textasciigrave": "`", "textbackslash": "\\", "textbar": "|", "textbardbl": "‖",
    "textless": "<", "textgreater": ">", "textbraceleft": "{", "textbraceright": "}", "textunderscore": "_",
    "textdollar": "$", "textexclamdown": "¡", "textquestiondown": "¿", "textbullet": "•",
    "textperiodcentered": "·", "textasteriskcentered": "*", "textnumero": "№", "textvisiblespace": "␣",
    "textleftarrow": "←", "textrightarrow": "→", "textuparrow": "↑", "textdownarrow": "↓", "textminus": "−",
    "textlnot": "¬", "textsurd": "√", "textprime": "′", "textturna": "ɐ", "textschwa": "ə", "dotsc": "…",
    "TeX": "TeX", "LaTeX": "LaTeX", "BibTeX": "BibTeX", "LaTeXe": "LaTeX2e", "slash": "/", "nobreakspace": " ",
    "space": " ", "quad": " ", "qquad": " ", "enspace": " ", "thinspace": " ", "newline": " ", "par": " ",
    "linebreak": " ", "newblock": " ", "hyp": "-", "nobreakdash": "", "textasciimacron": "¯", "and": " and ",
    "backslash": "\\", "lbrack": "[", "rbrack": "]", "percent": "%",
    # Commands of bibliography styles.
    "etal": "et al.", "bysame": "———", "bibnamedelima": " ", "bibnamedelimb": " ", "bibnamedelimc": " ",
    "bibnamedelimi": " ", "bibinitperiod": ".", "bibinitdelim": " ", "bibinithyphendelim": "-",
    "bibrangedash": "–", "BBA": "&", "BPBI": ". ", "BBOQ": "“", "BBCQ": "”", "BOthers": "et al.", "BCBT": ",",
    "BCBL": ",", "harvardand": "&", "harvardyearleft": "(", "harvardyearright": ")",
}  # fmt: skip

# Control word to the text it prints inside formulas.
MATH_SYMBOLS: dict[str, str] = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "varkappa": "ϰ", "lambda": "λ",
    "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ",
    "sigma": "σ", "varsigma": "ς", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π",
    "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "digamma": "ϝ",
    "times": "×", "pm": "±", "mp": "∓", "div": "÷", "cdot": "·", "ast": "∗", "star": "⋆", "circ": "°",
    "bullet": "•", "oplus": "⊕", "ominus": "⊖", "otimes": "⊗", "odot": "⊙", "cap": "∩", "cup": "∪",
    "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨", "neg": "¬", "lnot": "¬", "setminus": "∖",
    "dagger": "†", "ddagger": "‡", "amalg": "⨿", "sim": "∼", "simeq": "≃", "approx": "≈", "cong": "≅",
    "equiv": "≡", "propto": "∝", "asymp": "≍", "neq": "≠", "ne": "≠", "leq": "≤", "le": "≤", "geq": "≥",
    "ge": "≥", "leqslant": "≤", "geqslant": "≥", "lesssim": "≲", "gtrsim": "≳", "ll": "≪", "gg": "≫",
    "lt": "<", "gt": ">", "prec": "≺", "succ": "≻", "subset": "⊂", "supset": "⊃", "subseteq": "⊆",
    "supseteq": "⊇", "in": "∈", "ni": "∋", "notin": "∉", "mid": "|", "parallel": "∥", "perp": "⊥",
    "vdash": "⊢", "models": "⊨", "to": "→", "rightarrow": "→", "leftarrow": "←", "gets": "←",
    "uparrow": "↑", "downarrow": "↓", "leftrightarrow": "↔", "Rightarrow": "⇒", "Leftarrow": "⇐",
    "Leftrightarrow": "⇔", "iff": "⇔", "implies": "⇒", "longrightarrow": "→", "longleftarrow": "←",
    "rightleftharpoons": "⇌", "leftrightarrows": "⇆", "mapsto": "↦", "hookrightarrow": "↪", "nearrow": "↗",
    "searrow": "↘", "infty": "∞", "partial": "∂", "nabla": "∇", "forall": "∀", "exists": "∃",
    "emptyset": "∅", "varnothing": "∅", "angle": "∠", "triangle": "△", "prime": "′", "ell": "ℓ", "hbar": "ℏ",
    "imath": "ı", "jmath": "ȷ", "Re": "ℜ", "Im": "ℑ", "wp": "℘", "aleph": "ℵ", "sum": "∑", "prod": "∏",
    "int": "∫", "oint": "∮", "sqrt": "√", "surd": "√", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊",
    "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "vert": "|", "Vert": "‖", "lvert": "|", "rvert": "|",
    "cdots": "⋯", "ldots": "…", "dots": "…", "vdots": "⋮", "ddots": "⋱", "therefore": "∴", "because": "∵",
    "sun": "☉", "astrosun": "☉", "earth": "♁", "mars": "♂", "venus": "♀", "jupiter": "♃", "saturn": "♄",
    "arcsec": "″", "arcmin": "′", "deg": "°", "degree": "°", "AA": "Å", "square": "□", "Box": "□",
    "diamond": "⋄", "clubsuit": "♣", "heartsuit": "♥", "spadesuit": "♠", "checkmark": "✓", "sharp": "♯",
    "flat": "♭", "natural": "♮", "log": "log", "ln": "ln", "exp": "exp", "sin": "sin", "cos": "cos",
    "tan": "tan", "min": "min", "max": "max", "sup": "sup", "inf": "inf", "lim": "lim", "det": "det",
    "dim": "dim", "arg": "arg", "ker": "ker", "mod": "mod", "Pr": "Pr",
}  # fmt: skip

# Commands whose next arguments are not text, with the number of those arguments.
_NOT_TEXT = {
    "href": 1, "textcolor": 1, "color": 1, "label": 1, "footnote": 1, "cite": 1, "citep": 1, "citet": 1, "begin": 1,
    "end": 1, "vspace": 1, "hspace": 1, "noopsort": 1, "SortNoop": 1, "fontsize": 2, "raisebox": 1, "phantom": 1,
    "hphantom": 1, "foreignlanguage": 1, "selectlanguage": 1,
}  # fmt: skip
# Commands whose argument stands between two texts.
_ENCLOSING = {
    "enquote": ("“", "”"),
    "mkbibquote": ("“", "”"),
    "frac": ("", "/"),
    "tfrac": ("", "/"),
    "dfrac": ("", "/"),
    "sfrac": ("", "/"),
    "nicefrac": ("", "/"),
}
_SIGNS = {
    "\\": " ", "-": "", "/": "", ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "\n": " ", "\r": " ", "\t": " ",
    ">": " ", "@": "", "+": "", "*": "", "|": "‖",
}  # fmt: skip
_PAIRS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "!`": "¡", "?`": "¿"}
_SPACING = {"\u0303": "~", "\u0302": "^", "\u0300": "`", "\u0301": "'"}
_DOTLESS = {"ı": "i", "ȷ": "j"}

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]+)(?P<space>\s*)|\\(?P<sign>[^a-zA-Z])|(?P<brace>[{}])|(?P<math>\$\$?)|(?P<script>[_^])"
    r"|(?P<pair>---?|``|''|~|[!?]`)|(?P<text>[^\\{}$_^~\-`'!?]+|.)",
    re.DOTALL,
)
_TEX = re.compile(r"[\\{}$~]|--|``|''|[!?]`")


def untex(text: str) -> str:
    """A short TeX string (a title, a name) as Unicode text, without markup, white space folded."""
    if _TEX.search(text):
        text = _TexReading().read(text)
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class _TexGroup:
    """What an open brace keeps for its end: the text that closes it, and how things stood before."""

    closing: str
    muted: bool
    math: bool


class _TexReading:
    """The state of one pass over a string."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._groups: list[_TexGroup] = []
        self._accents: list[str] = []  # waiting for their letter, outermost first
        self._mute = 0  # groups still to leave out
        self._muted = False  # inside a group left out
        self._enclosing: tuple[str, str] | None = None
        self._math = False

    def read(self, text: str) -> str:
        for token in _TOKEN.finditer(text):
            kind, value = token.lastgroup, token.group()
            if kind == "space":
                self._word(token["word"], token["space"])
            elif kind == "sign":
                self._sign(token["sign"])
            elif kind == "brace":
                self._open() if value == "{" else self._close()
            elif kind == "math":
                self._math = not self._math
            elif kind == "script":
                self._put("" if self._math else value)
            elif kind == "pair":
                self._put(_PAIRS[value])
            elif value != "\\":  # one with nothing behind it
                self._put(value)
        self._drop_accents()
        return "".join(self._out)

    def _word(self, word: str, space: str) -> None:
        if word in ACCENTS and (self._math or len(word) == 1 or word == "textcommabelow"):
            self._accents.append(ACCENTS[word])
        elif word in _NOT_TEXT:
            self._mute = _NOT_TEXT[word]
        elif word in _ENCLOSING:
            self._enclosing = _ENCLOSING[word]
        elif word == "ensuremath":
            self._math = True
        else:
            preferred, fallback = (MATH_SYMBOLS, SYMBOLS) if self._math else (SYMBOLS, MATH_SYMBOLS)
            symbol = preferred.get(word) or fallback.get(word, "")
            # TeX drops the space after a control word; after a relation in a formula it reads better kept.
            self._put(symbol + (" " if self._math and space and symbol and not symbol.isalpha() else ""))

    def _sign(self, sign: str) -> None:
        if sign in "()[]":
            self._math = sign in "(["
        elif sign in ACCENTS:
            self._accents.append(ACCENTS[sign])
        else:
            self._put(_SIGNS.get(sign, sign))

    def _open(self) -> None:
        opening, closing = self._enclosing or ("", "")
        self._enclosing = None
        self._put(opening)
        self._groups.append(_TexGroup(closing, self._muted, self._math))
        if self._mute:
            self._mute -= 1
            self._muted = True

    def _close(self) -> None:
        self._drop_accents()
        if self._groups:
            group = self._groups.pop()
            self._muted, self._math = group.muted, group.math
            self._put(group.closing)

    def _drop_accents(self) -> None:
        """An accent on nothing: a tilde or circumflex in an address, else no text."""
        if self._accents:
            standing = "".join(_SPACING.get(accent, "") for accent in self._accents)
            self._accents.clear()
            self._put(standing)

    def _put(self, text: str) -> None:
        if self._muted or not text:
            return
        if self._accents:
            text = text.lstrip()
            if not text:
                return
            letter = _DOTLESS.get(text[0], text[0])
            text = unicodedata.normalize("NFC", letter + "".join(reversed(self._accents))) + text[1:]
            self._accents.clear()
        self._mute = 0
        self._out.append(text)
