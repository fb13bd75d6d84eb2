"""The tables of a library and the ids of their rows.

Ids are hashes of content, so the same documents make the same rows, whenever and in whatever batches they are added.
"""

from __future__ import annotations

from hashlib import blake2b

import pyarrow as pa

__all__ = ["COMMITS", "SCHEMA", "TABLES", "identifier", "tables"]

SCHEMA = 1  # raised when an older program could not read what a newer one writes

TABLES = ("papers", "documents", "spans", "citations")

# One row a commit: the version of every table that belongs to it.
COMMITS = pa.schema(
    [
        ("commit", pa.int64()),
        ("schema", pa.int32()),
        ("encoder", pa.string()),
        ("dimensions", pa.int32()),
        ("time", pa.string()),
        *((table, pa.int64()) for table in TABLES),
    ]
)


def tables(dimensions: int) -> dict[str, pa.Schema]:
    """The schema of each table, with vectors of so many dimensions."""
    vector = pa.list_(pa.float16(), dimensions)
    return {
        # A row for each version of a work; versions share `same_as`, the id of the version that stands for them.
        "papers": pa.schema(
            [
                ("id", pa.int64()),
                ("same_as", pa.int64()),
                ("key", pa.string()),
                ("title", pa.string()),
                ("authors", pa.list_(pa.string())),
                ("year", pa.int32()),
                ("venue", pa.string()),
                ("doi", pa.string()),
                ("arxiv", pa.string()),
                ("pmid", pa.string()),
                ("isbn", pa.string()),
                ("abstract", pa.string()),
                ("text", pa.string()),  # what is searched: title and abstract
                ("traits", pa.list_(pa.int64())),  # where versions of one work may meet
                ("vector", vector),
            ]
        ),
        "documents": pa.schema(
            [
                ("id", pa.int64()),
                ("hash", pa.string()),
                ("paper", pa.int64()),
                ("key", pa.string()),
                ("title", pa.string()),
                ("year", pa.int32()),
                ("path", pa.string()),
                ("format", pa.string()),
                ("added", pa.string()),
                ("citations", pa.int32()),
                ("references", pa.list_(pa.int64())),  # papers of its bibliography, cited in the text or not
            ]
        ),
        "spans": pa.schema([("id", pa.int64()), ("text", pa.string()), ("vector", vector)]),
        "citations": pa.schema(
            [
                ("span", pa.int64()),
                ("paper", pa.int64()),  # the version that is cited
                ("document", pa.int64()),
                ("sentence", pa.int64()),
                ("kind", pa.string()),
                ("section_type", pa.string()),
                ("place", pa.int32()),
                ("start", pa.int64()),
                ("end", pa.int64()),
            ]
        ),
    }


def identifier(text: str) -> int:
    """The id of a row, from what makes it the row it is."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1  # int64 has no room for the last bit
