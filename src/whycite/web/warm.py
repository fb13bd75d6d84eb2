"""Papers that stay ready for claims: the same content is read and prepared once, whatever its name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from whycite.documents.model import Document
from whycite.web.uploads import Upload

if TYPE_CHECKING:
    from whycite.verify.claims import OpenDocument
    from whycite.verify.verification import Verification

__all__ = ["HASH_LENGTH", "WarmPaper", "WarmPapers", "file_hash", "upload_hash"]

_MAX_PAPERS = 24  # a few megabytes each
_MAX_CLAIMS = 16  # per paper
_DIGEST_SIZE = 16
HASH_LENGTH = 2 * _DIGEST_SIZE  # characters of the hash of a file
_BLOCK_SIZE = 1 << 20


class WarmPaper:
    """A paper, ready for any number of claims; the answers to the last ones are remembered."""

    def __init__(self, document: Document, opened: OpenDocument) -> None:
        self.document = document
        self.verify: Callable[[str], Verification] = lru_cache(maxsize=_MAX_CLAIMS)(lambda claim: opened.verify(claim))


class WarmPapers:
    """The papers that were used last, by the hash of their content."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._papers: OrderedDict[str, Future[WarmPaper]] = OrderedDict()

    def open(self, content_hash: str, read: Callable[[], Document]) -> WarmPaper:
        """The paper with this hash; `read` is called only if it is not ready, and once for all who ask."""
        with self._lock:
            future = self._papers.get(content_hash)
            is_first = future is None
            if future is None:
                future = self._papers[content_hash] = Future()
                if len(self._papers) > _MAX_PAPERS:
                    self._papers.popitem(last=False)
            self._papers.move_to_end(content_hash)
        if is_first:
            self._prepare(content_hash, future, read)
        return future.result()

    def _prepare(self, content_hash: str, future: Future[WarmPaper], read: Callable[[], Document]) -> None:
        from whycite.verify.claims import open_document

        try:
            document = read()
            future.set_result(WarmPaper(document, open_document(document)))
        except BaseException as error:  # noqa: BLE001 - raised again for everyone who waits
            with self._lock:
                self._papers.pop(content_hash, None)  # the next one may be luckier
            future.set_exception(error)


def file_hash(path: Path) -> str:
    """The hash of a file's content."""
    state = path.stat()
    return _file_hash(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4096)
def _file_hash(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=_DIGEST_SIZE)).hexdigest()


def upload_hash(uploads: Sequence[Upload]) -> str:
    """The hash of uploaded files: their names, by which they find each other, and their content."""
    digest = blake2b(digest_size=_DIGEST_SIZE)
    for upload in uploads:
        digest.update(f"{len(upload.name)} {upload.name}".encode("utf-8", "surrogateescape"))
        content = blake2b(digest_size=_DIGEST_SIZE)
        while block := upload.stream.read(_BLOCK_SIZE):
            content.update(block)
        digest.update(content.digest())
        upload.stream.seek(0)
    return digest.hexdigest()
