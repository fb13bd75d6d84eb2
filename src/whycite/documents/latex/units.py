"""Numbers with units as siunitx writes them."""

from __future__ import annotations

import re

__all__ = ["QUANTITIES", "unit_text"]

# What follows the command: n a number, u a unit, o options; and how the parts are joined.
QUANTITIES = {
    "SI": ("onou", "{0} {1}"),
    "qty": ("onu", "{0} {1}"),
    "SIrange": ("onnu", "{0} to {1} {2}"),
    "qtyrange": ("onnu", "{0} to {1} {2}"),
    "SIlist": ("onu", "{0} {1}"),
    "qtylist": ("onu", "{0} {1}"),
    "num": ("on", "{0}"),
    "numrange": ("onn", "{0} to {1}"),
    "numlist": ("on", "{0}"),
    "ang": ("on", "{0}°"),
    "si": ("ou", "{0}"),
    "unit": ("ou", "{0}"),
}
_SYMBOLS = dict(
    pair.split("=")
    for pair in (
        "pico=p nano=n micro=µ milli=m centi=c deci=d kilo=k mega=M giga=G tera=T peta=P metre=m meter=m gram=g "
        "kilogram=kg second=s ampere=A kelvin=K mole=mol candela=cd hertz=Hz newton=N pascal=Pa joule=J watt=W volt=V "
        "ohm=Ω tesla=T weber=Wb henry=H farad=F siemens=S coulomb=C lumen=lm lux=lx becquerel=Bq gray=Gy sievert=Sv "
        "litre=L liter=L minute=min hour=h day=d degree=° degreeCelsius=°C celsius=°C percent=% electronvolt=eV "
        "dalton=Da bar=bar byte=B bit=bit parsec=pc year=yr decibel=dB arcsecond=″ arcminute=′ angstrom=Å squared=^2 "
        "cubed=^3 square=^2 cubic=^3 molar=M um=µm nm=nm mm=mm cm=cm km=km ms=ms us=µs ns=ns kg=kg mg=mg ug=µg GHz=GHz "
        "MHz=MHz kHz=kHz Hz=Hz eV=eV keV=keV MeV=MeV GeV=GeV TeV=TeV mV=mV kV=kV mW=mW kW=kW"
    ).split()
)
_PREFIXES = frozenset("pico nano micro milli centi deci kilo mega giga tera peta".split())
_WORD = re.compile(r"\\([A-Za-z]+)|([^\\])")


def unit_text(tex: str) -> str:
    """A unit such as `\\micro\\metre\\per\\second` as it is printed: µm/s."""
    parts: list[str] = []
    glue = True
    for match in _WORD.finditer(tex):
        word, plain = match.groups()
        if plain is not None:
            parts.append({"~": " ", ".": " ", "{": "", "}": ""}.get(plain, plain))
            glue = True
        elif word == "per":
            parts.append("/")
            glue = True
        else:
            symbol = _SYMBOLS.get(word, word)
            parts.append(symbol if glue or symbol[0] == "^" else " " + symbol)
            glue = word in _PREFIXES
    return "".join(parts)
