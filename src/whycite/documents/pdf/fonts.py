"""What a font's name says of it: weight, slant, whether it sets formulas."""

from __future__ import annotations

import re

from whycite.documents.pdf.runs import Font

__all__ = ["font_of"]

_MATH = re.compile(
    r"cmmi|cmsy|cmex|cmbsy|cmmib|msam|msbm|mtmi|mtsy|mtex|eufm|eurm|eusm|rsfs|lasy|stmary|math|symbol|mt-?extra"
    r"|txsy|txmi|txex|pxsy|pxmi|pxex|txsym|pxsym|esint|bbold|dsrom|wasy|fourier-m|universal-?greek|greekwithmathpi",
    re.IGNORECASE,
)
_BOLD = re.compile(r"bold|black|heavy|semibd|demi|[-.,]bd|cmbx|ecbx|sfbx|cmssbx|-medi\b|-sb\b|-b$|_b$", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obliq|slant|cmti|cmsl|ecti|sfti|[-.,]it\b|-i$|_i$", re.IGNORECASE)
_CAPITALS = re.compile(r"cmcsc|eccc|small-?caps|caps|[-.]sc\b", re.IGNORECASE)
_MONO = re.compile(r"courier|mono|typewriter|cmtt|ectt|sftt|consolas|menlo", re.IGNORECASE)
_BOLD_WEIGHT = 600


def font_of(name: str, weight: int, slant: int) -> Font:
    """The font of a base name as it stands in the file ("ABCDEF+Times-Bold")."""
    name = name.partition("+")[2] or name
    name = name[:80]
    math = bool(_MATH.search(name))
    return Font(
        name=name,
        bold=bool(_BOLD.search(name)) or weight >= _BOLD_WEIGHT,
        italic=bool(_ITALIC.search(name)) or (slant != 0 and not math),
        math=math,
        mono=bool(_MONO.search(name)),
        capitals=bool(_CAPITALS.search(name)),
    )
