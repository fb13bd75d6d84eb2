"""The numbers of headings: "2", "3.1", "IV", "B", and which can follow which."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Numbering", "numbered"]

_ARABIC = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})(?:[.)]|\s?[|:])?\s+(?=[^\W\d_]|[\"“‘'(\d])")
_ROMAN = re.compile(r"(?P<number>[IVX]{1,5})[.:]?\s+(?=[A-Z])")
_LETTER = re.compile(r"(?P<number>[A-Z](?:\.\d{1,2}){0,3})[.)]?\s+(?=[A-Z])")


def numbered(text: str, roman: bool = True) -> tuple[str, str]:
    """The number a heading begins with ("" for none) and the rest of it; roman numbers only where asked for."""
    for pattern in (_ARABIC, _ROMAN, _LETTER) if roman else (_ARABIC, _LETTER):
        if match := pattern.match(text):
            return match["number"], text[match.end() :]
    return "", text


@dataclass(slots=True)
class Numbering:
    """The numbers of the headings so far; in a `roman` document "A" stands under "II"."""

    roman: bool
    top: int = 0
    letter: str = ""

    def level(self, number: str) -> int:
        """How deep a numbered heading stands."""
        return 1 + number.count(".") + (self.roman and number[0].isalpha() and not self._is_roman(number))

    def note(self, number: str) -> None:
        """Take up the number of a heading."""
        if number.isdigit():
            self.top = int(number)
        elif self._is_roman(number):
            self.letter = ""
        elif number[:1].isalpha():
            self.letter = number[0]

    def allows(self, number: str, sure: bool) -> bool:
        """Whether a number can come next; one that is not set like a heading only as the very next."""
        head, _, rest = number.partition(".")
        if head.isalpha():
            ahead = ord(head[0]) - ord(self.letter or "@")
            return self._is_roman(head) or (len(head) == 1 and ahead in ((0, 1, 2) if self.letter else (1,)))
        if rest:
            return self.top <= int(head) <= self.top + 1 or self.top == 0
        return self.top < int(head) <= self.top + (3 if sure else 1)

    def _is_roman(self, number: str) -> bool:
        return self.roman and set(number) <= set("IVX")

    def is_next(self, number: str) -> bool:
        """Whether a number is the very next, or stands under the last."""
        head, _, rest = number.partition(".")
        return head.isdigit() and (int(head) == self.top if rest else int(head) == self.top + 1)
