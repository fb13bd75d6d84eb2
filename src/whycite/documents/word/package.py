"""The package of a word-processor document: a .zip file of XML parts, read within limits and rewritten part by part."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Mapping
from urllib.parse import unquote

from whycite.documents.sources import MAX_MEMBERS, decode
from whycite.documents.xmltree import MAX_BYTES, Node, Tree, parse_tree
from whycite.errors import UserError

__all__ = ["COMPOUND_FILE", "MAX_PACKAGE", "Package", "rewrite_package"]

MAX_PACKAGE = 256 << 20  # bytes of the file, including pictures, which are never unpacked
_MAX_UNPACKED = 96 << 20  # bytes of all parts that are read
_HEAD = 4096  # bytes
# How runs look, which is half of a document that was edited a lot.
_UNUSED = frozenset("rFonts sz szCs lang noProof bCs iCs kern proofErr lastRenderedPageBreak".split())
_MAIN = "word/document.xml"
_ENCRYPTED = 0x1
COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # old Word files, and new ones with a password
_DAMAGE = (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError)


class Package:
    """The parts of a document by name; each is unpacked when it is asked for."""

    def __init__(self, data: bytes, path: str) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._unpacked: dict[str, int] = {}  # bytes of the parts that were read, which may be read again
        if data.startswith(COMPOUND_FILE):
            raise UserError(f"{path}: an old Word file (.doc) or one with a password; save it as .docx without one")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise UserError(f"{path}: not a readable document ({error}); open it and save it again") from error
        members = self._archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise UserError(f"{path}: more than {MAX_MEMBERS:,} parts; not a document")
        self._members = {member.filename: member for member in members}

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        """The names of all parts."""
        return list(self._members)

    def text(self, name: str) -> str:
        """The text of a part."""
        return decode(self.data(name))[0]

    def data(self, name: str) -> bytes:
        """The bytes of a part; an error if it is damaged or far larger than real ones."""
        member = self._members[name]
        if member.flag_bits & _ENCRYPTED:
            raise UserError(f"{self.path}: protected by a password; save it without one")
        limit = min(MAX_BYTES, _MAX_UNPACKED - sum(self._unpacked.values()) + self._unpacked.get(name, 0))
        try:
            with self._archive.open(member) as stream:
                data = stream.read(limit + 1)
        except _DAMAGE as error:
            raise UserError(f"{self.path}: {name} is damaged ({error}); open the file and save it again") from error
        if len(data) > limit:
            raise UserError(f"{self.path}: {name} is larger than {limit >> 20} MB; too large for one document")
        self._unpacked[name] = len(data)
        return data

    def head(self, name: str) -> str:
        """The beginning of a part; "" if there is no such part, or it is damaged."""
        if name not in self._members:
            return ""
        try:
            with self._archive.open(self._members[name]) as stream:
                return decode(stream.read(_HEAD))[0]
        except _DAMAGE:
            return ""

    def tree(self, name: str) -> Tree:
        """The XML of a part; what is broken in it becomes a warning."""
        tree = parse_tree(self.text(name), f"{self.path}: {name}", _UNUSED)
        self.warnings += tree.warnings
        return tree

    def root(self, name: str) -> Node | None:
        """The root element of a part; None if there is no such part, or nothing in it."""
        return self.tree(name).root if name in self._members else None

    def main_part(self) -> str:
        """The name of the part with the text of a Word document."""
        main = next(iter(self.related("", "officeDocument")), _MAIN)
        if main not in self:
            raise UserError(f"{self.path}: not a Word document; it has no {_MAIN}")
        return main

    def related(self, part: str, kind: str) -> list[str]:
        """The parts that a part names as related in this way, such as "footnotes"; never anything outside the file."""
        folder, name = posixpath.split(part)
        relations = self.root(posixpath.join(folder, "_rels", f"{name}.rels"))
        targets = []
        for relation in relations.find_all("Relationship") if relations else ():
            if relation.attributes.get("TargetMode") == "External":
                continue
            if relation.attributes.get("Type", "").rpartition("/")[2] == kind:
                target = unquote(relation.attributes.get("Target", ""))
                targets.append(posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/"))
        return [target for target in targets if target in self._members]


def rewrite_package(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The package with these parts changed or added; every other part keeps its bytes, its date and its place."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        new.comment = old.comment
        members = old.infolist()
        for member in members:
            new.writestr(member, parts[member.filename] if member.filename in parts else old.read(member))
        date = max((member.date_time for member in members), default=(1980, 1, 1, 0, 0, 0))
        for name in parts.keys() - {member.filename for member in members}:
            added = zipfile.ZipInfo(name, date)
            added.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(added, parts[name])
    return out.getvalue()
