"""The encoder that makes a library's vectors."""

from __future__ import annotations

import json
from pathlib import Path

from whycite.consent import is_trusted, trust
from whycite.errors import UserError
from whycite.files import write_lines
from whycite.models import Encoder, load_encoder
from whycite.models.folders import ENCODER

__all__ = ["EncoderChoice", "encoder_of", "note_folder", "resolve_encoder"]

EncoderChoice = Encoder | str | Path
"""An encoder, its name, or its folder."""

_FOLDERS = "encoders.json"  # in a library: the folders of encoders that are not installed by name


def resolve_encoder(encoder: EncoderChoice) -> Encoder:
    """Load the chosen encoder."""
    return load_encoder(encoder) if isinstance(encoder, str | Path) else encoder


def encoder_of(name: str, library: Path | None = None) -> Encoder:
    """Load the encoder with that name and version, from the folder noted in the library if any.

    A library from elsewhere could name any folder: a bundled encoder is never taken from one, and others only if the
    user trusts it.
    """
    plain_name = name.partition("@")[0]
    places: list[str | Path] = [plain_name]
    if library is not None and plain_name not in ENCODER.bundled() and (folder := _folders(library).get(name)):
        places.insert(0, Path(folder))
    problem = ""
    for place in places:
        if place not in ENCODER.bundled() and Path(place).is_dir() and not is_trusted(Path(place)):
            raise UserError(
                f"the library's encoder {name} is in {place}, a folder that you have not named yourself; "
                f"if you trust it: whycite trust {place}"
            )
        try:
            encoder = load_encoder(place)
        except UserError as error:
            problem = problem or str(error)
            continue
        if encoder.name == name:
            return encoder
        problem = problem or f"installed is {encoder.name}"
    raise UserError(
        f"the library's encoder {name} is not available: {problem}; "
        "move the library to another encoder with: whycite library reindex"
    )


def note_folder(library: Path, encoder: Encoder, choice: EncoderChoice) -> None:
    """Note the folder of a library's encoder, if it was chosen by folder, which the user trusts from now on."""
    if isinstance(choice, str | Path) and choice not in ENCODER.bundled() and Path(choice).is_dir():
        trust(Path(choice))
        folders = _folders(library) | {encoder.name: str(Path(choice).resolve())}
        write_lines(library / _FOLDERS, [json.dumps(folders, indent=2, ensure_ascii=False) + "\n"])


def _folders(library: Path) -> dict[str, str]:
    try:
        folders = json.loads((library / _FOLDERS).read_text("utf-8"))
    except (OSError, ValueError):  # missing or not ours
        return {}
    return {str(name): str(folder) for name, folder in folders.items()} if isinstance(folders, dict) else {}
