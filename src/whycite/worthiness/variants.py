"""What a model reads: SCOPE's input variants (3.2, appendix D.3), one sequence of segments a reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whycite.errors import UserError

__all__ = ["VARIANTS", "Segment", "Variant", "segments", "variant"]


@dataclass(frozen=True, slots=True)
class Variant:
    """Whether a sentence is read in its paragraph, and where the section stands."""

    name: str
    context: bool
    section: Literal["none", "extra", "first", "always"]


VARIANTS: tuple[Variant, ...] = (
    Variant("ctx", True, "none"),
    Variant("ctx-section-extra", True, "extra"),
    Variant("ctx-section-first", True, "first"),
    Variant("ctx-section-always", True, "always"),
    Variant("solo", False, "none"),
    Variant("solo-section-extra", False, "extra"),
    Variant("solo-section-firstalways", False, "always"),
)


@dataclass(frozen=True, slots=True)
class Segment:
    """What stands before a separator: a sentence by its index, the section, or the section and then a sentence."""

    section: bool
    sentence: int | None


def variant(name: str) -> Variant:
    """The variant of that name."""
    for each in VARIANTS:
        if each.name == name:
            return each
    raise UserError(f"no input variant '{name}'; there are: {', '.join(each.name for each in VARIANTS)}")


def segments(variant: Variant, sentences: Sequence[int]) -> tuple[Segment, ...]:
    """What is read in one pass for these sentences of a paragraph; one for a solo variant.

    ctx is "[CLS] sent [SEP] sent [SEP]", -extra "[CLS] sec [SEP] sent [SEP]", -first "[CLS] sec sent [SEP] sent [SEP]",
    -always "[CLS] sec sent [SEP] sec sent [SEP]".
    """
    if not variant.context and len(sentences) != 1:
        raise ValueError(f"{variant.name} reads one sentence at a time, not {len(sentences)}")
    always, first = variant.section == "always", variant.section == "first"
    extra = (Segment(True, None),) if variant.section == "extra" else ()
    return extra + tuple(Segment(always or (first and at == 0), index) for at, index in enumerate(sentences))
