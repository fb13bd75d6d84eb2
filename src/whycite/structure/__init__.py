"""Structure analysis: section types of headings, section sequences, templates and their support (SCOPE 3.1)."""

from whycite.structure.dictionary import AROUND, BLOCKS, BODY, TYPES, Dictionary, dictionary
from whycite.structure.labels import default_dictionary, label, section_type, type_named
from whycite.structure.learning import Unmatched, learn, unmatched
from whycite.structure.rules import Rules, load_rules, rules_path, save_rules
from whycite.structure.sequences import Outline, Run, outline, sequence
from whycite.structure.support import Support, support
from whycite.structure.templates import ANY, TEMPLATES, Template, depths, letters, matching, parents

__all__ = [
    "ANY",
    "AROUND",
    "BLOCKS",
    "BODY",
    "TEMPLATES",
    "TYPES",
    "Dictionary",
    "Outline",
    "Rules",
    "Run",
    "Support",
    "Template",
    "Unmatched",
    "default_dictionary",
    "depths",
    "dictionary",
    "label",
    "learn",
    "letters",
    "load_rules",
    "matching",
    "outline",
    "parents",
    "rules_path",
    "save_rules",
    "section_type",
    "sequence",
    "support",
    "type_named",
    "unmatched",
]
