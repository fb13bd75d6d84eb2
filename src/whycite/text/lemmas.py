"""The singular of English nouns by rule, good enough to match "Methods" with "Method"."""

from __future__ import annotations

from whycite.text.wordlists import load_tables

__all__ = ["lemma"]

_IRREGULAR: dict[str, str] = load_tables(__name__)["irregular"]
# Words that end like a plural but are not one.
_SINGULAR = frozenset("always alias atlas bayes bias canvas chaos gas has lens means news perhaps was".split())
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")


def lemma(word: str) -> str:
    """The singular of a lower-case noun; any other word comes back unchanged, or nearly."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word in _SINGULAR or word.endswith(_SINGULAR_ENDINGS):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("yses", "eses")):  # analyses, hypotheses
        return word[:-2] + "is"
    if word.endswith(("sses", "xes", "ches", "shes", "oes")):
        return word[:-2]
    return word[:-1]
