"""Structure analysis: section types of headings, section sequences, templates and their support (SCOPE 3.1)."""

from whycite.structure.dictionary import BLOCKS, BODY_TYPES, OUTER_TYPES, SECTION_TYPES, Dictionary, dictionary
from whycite.structure.learning import UnmatchedHeading, learn, unmatched_headings
from whycite.structure.rules import HeadingRules, load_rules, rules_path, save_rules
from whycite.structure.sections import (
    SectionOutline,
    SectionRun,
    default_dictionary,
    label,
    outline,
    parse_section_type,
    section_type,
    sequence,
)
from whycite.structure.templates import (
    ANY,
    TEMPLATES,
    Template,
    TemplateSupport,
    depths,
    letters,
    matching_templates,
    parents,
    support,
)

__all__ = [
    "ANY",
    "BLOCKS",
    "BODY_TYPES",
    "OUTER_TYPES",
    "SECTION_TYPES",
    "TEMPLATES",
    "Dictionary",
    "HeadingRules",
    "SectionOutline",
    "SectionRun",
    "Template",
    "TemplateSupport",
    "UnmatchedHeading",
    "default_dictionary",
    "depths",
    "dictionary",
    "label",
    "learn",
    "letters",
    "load_rules",
    "matching_templates",
    "outline",
    "parents",
    "parse_section_type",
    "rules_path",
    "save_rules",
    "section_type",
    "sequence",
    "support",
    "unmatched_headings",
]
