"""The files of a LaTeX project: the main file, what \\input and commands that wrap it name, and the bibliographies."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from whycite.documents.latex.commands import INPUTS, looks_like_citation
from whycite.documents.latex.cursor import Cursor, LatexFrame, LatexText
from whycite.documents.latex.macros import DEFINERS, Macro, read_definition
from whycite.documents.model import Reference
from whycite.documents.references import bbl, bibtex
from whycite.documents.sources import Folder, Source, decode

__all__ = [
    "COMMENTS",
    "INCLUSION",
    "LatexProject",
    "expand_path",
    "find_including_macros",
    "find_main",
    "has_citations",
    "may_include",
    "path_macros",
]

COMMENTS = re.compile(r"(?<!\\)%[^\n\r]*")
# A command by whose name it includes a file, as classes define them: \includepaper{chapters/06}.
_INCLUDING_NAME = (
    r"(?:input|include|import|subfile)(?!graphics|pdf|svg|only|standalone|minted|encoding|comment)[A-Za-z]*"
)
INCLUSION = re.compile(rf"\\{_INCLUDING_NAME}\s*\{{\s*([^{{}}\\\n]{{1,200}}?)\s*\}}")
_MAY_INCLUDE = re.compile(_INCLUDING_NAME)
_INPUT_NAMES = "|".join(sorted(INPUTS, key=len, reverse=True))
_INPUT_OF_ARGUMENT = re.compile(rf"\\(?:{_INPUT_NAMES})\s*\{{[^{{}}\n]{{0,200}}#\d")
_DEFINITION = re.compile(rf"\\({'|'.join(sorted(DEFINERS - {'let'}, key=len, reverse=True))})(?![A-Za-z@])\*?")
_MAX_NESTING = 5  # macros that include by way of other macros
_CITATION = re.compile(
    r"\\([A-Za-z]{0,30}[cC]ite[A-Za-z]{0,30})\*?\s{0,9}(?:\[[^\[\]]{0,200}\]\s{0,9}){0,2}\{\s{0,9}[^#{}\\\s]"
)


def may_include(name: str) -> bool:
    """Whether an unknown command includes a file, judging by its name."""
    return _MAY_INCLUDE.fullmatch(name) is not None


def has_citations(text: str) -> bool:
    """Whether a file cites anything outside of comments."""
    return any(looks_like_citation(command[1]) for command in _CITATION.finditer(COMMENTS.sub("", text)))


def find_including_macros(texts: Iterable[str]) -> dict[str, Macro]:
    """The macros in these classes and packages that include the file they are given, without what else they do."""
    macros = [macro for text in texts if _INPUT_OF_ARGUMENT.search(text) for macro in _definitions(text)]
    including: dict[str, Macro] = {}
    for _ in range(_MAX_NESTING):
        names = "|".join([_INPUT_NAMES, *map(re.escape, including)])
        call = re.compile(rf"\\(?:{names})(?![A-Za-z@])\s*(?:\{{[^{{}}\n]{{0,200}}\}}){{1,3}}")
        count = len(including)
        for macro in macros:
            calls = [inclusion for inclusion in call.findall(macro.body) if "#" in inclusion]
            if calls and macro.name not in including:
                including[macro.name] = Macro(macro.name, macro.parameters, "\n\n".join(calls))
        if len(including) == count:
            break
    return including


def _definitions(text: str) -> Iterable[Macro]:
    source = LatexText(COMMENTS.sub("", text), "")
    for definition in _DEFINITION.finditer(source.text):
        cursor = Cursor()
        cursor.push(LatexFrame(source, definition.end(), len(source.text)))
        if macro := read_definition(cursor, definition[1]):
            yield macro


_PATH_MACRO = re.compile(
    r"\\(?:(?:new|renew|provide)command\*?\s{0,9}\{?\s{0,9}\\([A-Za-z@]{1,60})\s{0,9}\}?|[gex]?def\s{0,9}\\([A-Za-z@]{1,60}))\s{0,9}\{([^{}\n]{1,200})\}"
)
_COMMAND = re.compile(r"\\([A-Za-z@]+)[ \t]*(?:\{\})?")
_TRANSPARENT = frozenset("subfix detokenize unexpanded string expandafter noexpand relax currfiledir".split())
_MAX_PATH = 1000  # characters; macros can double each other
_BRACES = str.maketrans("", "", "{}")


def path_macros(texts: Iterable[str]) -> dict[str, str]:
    """The macros without parameters in these files that may stand for a folder; the first definition counts."""
    macros: dict[str, str] = {}
    for text in texts:
        for definition in _PATH_MACRO.finditer(COMMENTS.sub("", text)):
            macros.setdefault(definition[1] or definition[2], definition[3].strip())
    return macros


def expand_path(path: str, macros: Mapping[str, Macro], fallback: Callable[[], Mapping[str, str]], job: str) -> str:
    """A path with the values of the macros in it; `fallback` has those of files that were not read, `job` is \\jobname.

    A command that nothing defines stays: it may be a folder after a backslash, as on Windows.
    """

    def value(command: re.Match[str]) -> str:
        name = command[1]
        if name in macros:
            return command[0] if macros[name].parameters else macros[name].body
        if name in _TRANSPARENT:
            return ""
        return job if name == "jobname" else fallback().get(name, command[0])

    for _ in range(_MAX_NESTING):
        expanded = _COMMAND.sub(value, path) if "\\" in path else path
        if expanded == path or len(expanded) > _MAX_PATH:
            break
        path = expanded
    return path.translate(_BRACES).strip()


_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[[^\]]{0,2000}\])?\s*\{\s*([^}\s]{1,100})")
_PART_CLASSES = frozenset({"subfiles", "standalone"})  # of files that are part of a document
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_ENCODING = re.compile(r"\\usepackage\s*\[([\w-]{1,20})\]\s*\{inputenc\}|%\s*!TEX encoding\s*=\s*([\w-]{1,30})")
_USUAL_NAMES = ("main", "ms", "paper", "article", "manuscript", "thesis", "draft", "root")
# Limits for one project, far above real ones.
MAX_READ = 128 << 20  # bytes
MAX_FILES = 5000
_MAX_LEFTOVERS = 500  # files of the folder searched for citations and macros that the draft does not reach
_TEX = (".tex", ".ltx", ".latex")
_HEAD_SIZE = 4 << 20  # bytes of a file that decide whether it is the main one
_DECLARATION_SIZE = 100_000  # bytes in which the encoding must be declared
_MAX_BIB_FILES = 20  # read for a draft that names none


class LatexProject:
    """Reads the files of one folder, each once, and nothing outside it."""

    def __init__(self, main: Source) -> None:
        self.main = main
        self._folder = posixpath.dirname(main.name)
        self._texts: dict[str, LatexText] = {}
        self._names_by_path: dict[str, str] = {}  # names of the files by their paths
        self._names: dict[str, str] | None = None
        self._embedded_files: dict[str, str] = {}  # files embedded in the draft
        self._heads: dict[str, str] = {}  # beginnings of files that were searched, not read
        self._characters_searched = 0
        self._entered: set[str] = set()  # paths of the files whose text is in the document
        self._bytes_read = 0
        self.encoding: str | None = None
        self.borrowed_bbl = ""  # the only .bbl of the folder, if it was used although it is not named after the draft
        self.warnings: list[str] = []

    def open(self, source: Source) -> LatexText:
        """The text of a file; an encoding declared in the main file applies to all."""
        if source.path not in self._texts:
            data = source.data()
            self._bytes_read += len(data)
            declared = _ENCODING.search(data[:_DECLARATION_SIZE].decode("latin-1"))
            self.encoding = (declared[1] or declared[2]) if declared else self.encoding
            text, warning = decode(data, self.encoding)
            if warning:
                self.warnings.append(f"{source.path}: {warning}")
            if "\0" in text:
                self.warnings.append(f"{source.path}: contains binary data; only its text was read")
            self._names_by_path[source.path] = source.name
            self._texts[source.path] = LatexText(text, source.path)
        return self._texts[source.path]

    def find(self, target: str, including_path: str, suffix: str) -> LatexText | str:
        """The file an \\input names, or the reason why it cannot be read."""
        if len(self._texts) >= MAX_FILES or self._bytes_read >= MAX_READ:
            return "too many files, or too large, for one document; skipped"
        target = target.strip().strip('"').replace("\\", "/")
        source = self._locate(target, including_path, suffix)
        if source is not None:
            return self.open(source)
        in_folder = not target.startswith(("/", "~")) and not self._resolve(self._folder, target).startswith("..")
        return "file not found in this folder" if in_folder else "outside the draft's folder; skipped"

    def find_by_tail(self, path: str) -> LatexText | None:
        """The only .tex file of the project whose path ends like this one, whose folder is unknown."""
        tail = "/" + posixpath.normpath(path.replace("\\", "/").strip("/")).lower().removesuffix(".tex") + ".tex"
        names = [name for low, name in self._all_names().items() if f"/{low}".endswith(tail)]
        source = self.main.sibling(names[0]) if len(names) == 1 else None
        return self.open(source) if source else None

    def is_read(self, text: LatexText) -> bool:
        """Whether a file has been read into the document before."""
        return text.file in self._entered

    def enter(self, text: LatexText) -> None:
        """Note that a file is read into the document."""
        self._entered.add(text.file)

    @cached_property
    def including_macros(self) -> dict[str, Macro]:
        """The macros of the project's classes and packages that include a file."""
        return find_including_macros(self._unread_texts((".cls", ".sty")).values())

    @cached_property
    def path_macros(self) -> dict[str, str]:
        """The macros in any file of the project that may stand for a folder."""
        return path_macros(self._unread_texts((".cls", ".sty", ".def", *_TEX)).values())

    def leftovers(self) -> list[str]:
        """The .tex files of the folder that cite and that the draft does not include; other drafts do not count."""
        texts = self._unread_texts(_TEX)
        paths = {name: self.main.folder.path(name) for name in texts}
        return sorted(
            name
            for name, text in texts.items()
            if paths[name] not in self._entered and has_citations(text) and not _is_other_draft(text)
        )

    def _unread_texts(self, suffixes: tuple[str, ...]) -> dict[str, str]:
        names = [name for name in self._all_names().values() if name.lower().endswith(suffixes)]
        for name in names[:_MAX_LEFTOVERS]:
            is_new = name not in self._heads and self.main.folder.path(name) not in self._entered
            if is_new and self._characters_searched < MAX_READ:
                self._heads[name] = _read_head(Source(self.main.folder, name))
                self._characters_searched += len(self._heads[name])
        return {name: self._heads[name] for name in names if name in self._heads}

    def line(self, file: str, offset: int) -> int:
        """The line number of an offset in a file."""
        return self._texts[file].line(offset) if file in self._texts else 1

    def add_file(self, name: str, text: str) -> None:
        """Keep a file that is embedded in the draft (`filecontents`)."""
        self._embedded_files[name] = text

    def bibliography(self, names: Iterable[str]) -> tuple[list[Reference] | None, list[Reference]]:
        """The entries of the named bibliographies, None if no file is found; and those of the draft's .bbl."""
        references: list[Reference] | None = None
        for name in dict.fromkeys(names):
            text, path = self._bibliography_text(name)
            if text is None:
                self.warnings.append(f"{self.main.path}: bibliography '{name}' not found in this folder")
                continue
            references = (references or []) + self._unpack(bibtex.parse(text, path))
        stem = posixpath.splitext(self.main.name)[0]
        candidates = [stem + ".bbl"]
        if references is None:
            bbl_names = [n for n in self._all_names().values() if n.endswith(".bbl")]
            candidates += bbl_names if len(bbl_names) == 1 else []
        for candidate in candidates:
            if source := self.main.sibling(candidate):
                self.borrowed_bbl = candidate if candidate != candidates[0] else ""
                return references, self._unpack(bbl.parse(self.open(source).text, source.path))
        return references, []

    def other_bibliographies(self) -> tuple[list[Reference], list[str]]:
        """The entries and names of the .bib files beside the main file, for a draft that names none."""
        folder_names = (name for name in self._all_names().values() if posixpath.dirname(name) == self._folder)
        names = sorted(name for name in folder_names if name.lower().endswith(".bib"))[:_MAX_BIB_FILES]
        sources = [Source(self.main.folder, name) for name in names]
        return [r for source in sources for r in self._unpack(bibtex.parse(self.open(source).text, source.path))], names

    @staticmethod
    def has_document(text: str) -> bool:
        """Whether the text has a \\begin{document} of its own."""
        return _BEGIN.search(COMMENTS.sub("", text)) is not None

    @staticmethod
    def body(text: str) -> tuple[int, int]:
        """The range of a file that is read when another file includes it."""
        begin = _BEGIN.search(text)
        if begin is None or "%" in text[text.rfind("\n", 0, begin.start()) + 1 : begin.start()]:
            return 0, len(text)
        end = _END.search(text, begin.end())
        return begin.end(), end.start() if end else len(text)

    def _unpack(self, parsed: tuple[list[Reference], list[str]]) -> list[Reference]:
        references, warnings = parsed
        self.warnings += warnings
        return references

    def _bibliography_text(self, name: str) -> tuple[str | None, str]:
        for candidate in (name, name + ".bib"):
            if candidate in self._embedded_files:
                return self._embedded_files[candidate], self.main.path
        source = self._locate(name, self.main.path, ".bib")
        return (self.open(source).text, source.path) if source else (None, "")

    def _locate(self, target: str, including_path: str, suffix: str) -> Source | None:
        including_name = self._names_by_path.get(including_path, "")
        names = [target + suffix, target] if not target.lower().endswith(suffix) else [target]
        for folder in dict.fromkeys([self._folder, posixpath.dirname(including_name), ""]):
            for name in names:
                path = self._resolve(folder, name)
                if path.startswith("..") or name.startswith("/"):
                    continue
                if source := self.main.sibling(self._all_names().get(path.lower(), path)):
                    return source
        # A file generated before TeX runs: text/abstract from text/abstract.md.tex.
        stem = self._resolve(self._folder, target).lower() + "."
        generated_names = [
            name for low, name in self._all_names().items() if low.startswith(stem) and low.endswith(suffix)
        ]
        return self.main.sibling(generated_names[0]) if len(generated_names) == 1 else None

    @staticmethod
    def _resolve(folder: str, name: str) -> str:
        return posixpath.normpath(posixpath.join(folder, name))

    def _all_names(self) -> dict[str, str]:
        """Names by their lower-case form, for drafts written on case-insensitive file systems."""
        if self._names is None:
            self._names = {name.lower(): name for name in self.main.folder.names()}
        return self._names


def _is_other_draft(text: str) -> bool:
    """Whether a file is a document in itself: a talk or another paper, but not a chapter with a class of its own."""
    document_class = _CLASS.search(COMMENTS.sub("", text))
    return document_class is not None and document_class[1] not in {*_PART_CLASSES, "langscibook"}


def find_main(folder: Folder) -> Source | None:
    """The main file of a project: a document no other file includes, with a usual name or the most text."""
    names = [name for name in folder.names() if name.lower().endswith(_TEX)]
    texts = {name: COMMENTS.sub("", _read_head(Source(folder, name))) for name in names[:MAX_FILES]}
    if not texts:
        return None
    included_stems = {
        posixpath.basename(inclusion[1]).removesuffix(".tex")
        for text in texts.values()
        for inclusion in INCLUSION.finditer(text)
    }
    classes = {name: match[1] for name, text in texts.items() if (match := _CLASS.search(text))}
    roots = [name for name in classes if classes[name] not in {*_PART_CLASSES, "beamer", "letter"}]
    roots = roots or [name for name, text in texts.items() if _BEGIN.search(text)] or list(texts)

    def rank_as_main(name: str) -> tuple[bool, bool, bool, int, int]:
        stem = posixpath.basename(name).rsplit(".", 1)[0]
        return (
            _BEGIN.search(texts[name]) is not None,
            stem not in included_stems,
            stem.lower() in _USUAL_NAMES,
            -name.count("/"),
            len(texts[name]),
        )

    return Source(folder, max(sorted(roots), key=rank_as_main))


def _read_head(source: Source) -> str:
    """The beginning of a file, which shows whether it is the main one."""
    with source.open() as stream:
        return decode(stream.read(_HEAD_SIZE))[0]
