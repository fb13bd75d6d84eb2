"""What is known of the encoder in a folder: `encoder.json`, and the version that its content gives it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from whycite.errors import UserError

__all__ = ["FACTS", "MODEL", "TOKENIZER", "Facts", "Pooling", "checked", "read", "version"]

MODEL, TOKENIZER, FACTS = "model.onnx", "tokenizer.json", "encoder.json"
Pooling = Literal["cls", "mean"]


@dataclass(frozen=True, slots=True)
class Facts:
    """How an encoder is to be used; `version` and `dimensions` may be left open."""

    name: str
    version: str = ""
    dimensions: int = 0
    max_tokens: int = 256
    pooling: Pooling = "cls"
    prefix: str = ""

    def write(self, folder: Path, file: str = FACTS) -> None:
        """Put them into the folder's `encoder.json`, or another file."""
        (folder / file).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder: Path, file: str = FACTS) -> Facts:
    """The facts of the encoder in a folder; without an `encoder.json` they are those of most encoders."""
    for name in (MODEL, TOKENIZER):
        if not (folder / name).is_file():
            raise UserError(f"{folder} has no {name}: the folder of an encoder holds {MODEL} and {TOKENIZER}")
    path = folder / file
    if not path.is_file():
        return Facts(folder.resolve().name)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): mend or remove it") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} holds no JSON object: mend or remove it")
    return checked(path, {"name": folder.resolve().name, **found})


def version(folder: Path, facts: Facts) -> str:
    """Eight hex digits from everything that vectors depend on: the model, the tokenizer, how they are used."""
    digest = hashlib.sha256(json.dumps([facts.max_tokens, facts.pooling, facts.prefix]).encode())
    for name in (MODEL, TOKENIZER):
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def checked(path: Path, found: dict[str, object]) -> Facts:
    """The facts that a file holds, if they are such."""
    known = asdict(Facts(""))
    for key, value in found.items():
        if key not in known:
            raise UserError(f"{path} has '{key}', which is not known; there are: {', '.join(known)}")
        if type(value) is not type(known[key]):
            kind = "text" if isinstance(known[key], str) else "a whole number"
            raise UserError(f"{path} has {value!r} as '{key}': it must be {kind}")
    facts = Facts(**found)  # type: ignore[arg-type]  # checked above
    if facts.pooling not in get_args(Pooling):
        raise UserError(f"{path} has '{facts.pooling}' as 'pooling'; there are: {', '.join(get_args(Pooling))}")
    if facts.max_tokens < 3:
        raise UserError(f"{path} has {facts.max_tokens} as 'max_tokens': it must be 3 or more")
    return facts
