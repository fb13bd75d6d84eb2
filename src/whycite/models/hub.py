"""Models of Hugging Face: where they lie, what is said of their use, and how transformers opens them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite.errors import MissingExtra, UserError
from whycite.models import runtime
from whycite.models.runtime import ENCODER_SETTINGS, TOKENIZER, ModelSettings, Pooling, check_settings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["CONFIG", "LOCAL", "model_of", "quiet", "require", "settings_of", "snapshot", "tokenizer_of", "version"]

CONFIG = "config.json"
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_BERT_VOCABULARY = "vocab.txt"  # of BERT
_VOCABULARIES = (
    TOKENIZER,
    _BERT_VOCABULARY,
    "vocab.json",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
)
_TOKENIZER_CONFIG = "tokenizer_config.json"
_TOKENIZER_FILES = ("merges.txt", _TOKENIZER_CONFIG, "special_tokens_map.json", "added_tokens.json")
_MODULES, _POOLING = "modules.json", "1_Pooling/config.json"  # of sentence-transformers
_MODULE_TYPES = {"Transformer", "Pooling", "Normalize"}
_MODES: dict[str, Pooling] = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
LOCAL = {"local_files_only": True, "trust_remote_code": False}  # no network, and no code but transformers' own


def require(feature: str, *packages: str) -> None:
    """Say so where the packages that run models of Hugging Face are not installed, or any of those named."""
    if any(find_spec(package) is None for package in ("torch", "transformers", *packages)):
        raise MissingExtra(feature, "train")


def snapshot(name: str) -> Path | None:
    """The folder of the model "owner/model" in the local cache; None if no model can have that name."""
    if "/" not in name:
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, CONFIG)
    except HFValidationError:
        return None
    if isinstance(config, str) and _weights(Path(config).parent):
        return Path(config).parent
    raise UserError(f"'{name}' is no folder, and no model in the Hugging Face cache; to fetch it: hf download {name}")


def settings_of(folder: Path) -> ModelSettings:
    """How the folder's model is used: as its `encoder.json` says, else as sentence-transformers does."""
    path = folder / ENCODER_SETTINGS
    content = {"name": folder.resolve().name, **(_read_object(path) if path.is_file() else {})}
    if "pooling" not in content:
        content["pooling"] = _pooling(folder)
    return check_settings(path, content)


def version(folder: Path, settings: ModelSettings) -> str:
    """Eight hex digits from everything that vectors depend on: the model, the tokenizer, how they are used."""
    digest = hashlib.sha256(json.dumps([settings.max_tokens, settings.pooling, settings.prefix]).encode())
    weights = _weights(folder)
    if not weights:
        raise UserError(f"{folder} lacks the model's weights: copy or fetch {_WEIGHTS[0]} or {_WEIGHTS[2]}, whole")
    words = _vocabulary(folder)
    tokenizer_files = (
        [] if words.name == TOKENIZER else [folder / name for name in _TOKENIZER_FILES if (folder / name).is_file()]
    )
    for path in [folder / CONFIG, words, *tokenizer_files, *weights]:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def model_of(folder: Path) -> Any:
    """The folder's model in 32 bits, without a pooling layer, ready to be run."""
    with quiet() as transformers:
        try:
            model, info = transformers.AutoModel.from_pretrained(folder, output_loading_info=True, **LOCAL)
        except Exception as error:  # its errors have no class of their own in common
            raise UserError(f"{folder} holds no model that transformers opens ({error})") from error
    missing = sorted(name for name in info["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise UserError(f"{folder} lacks {len(missing)} of the model's weights, such as {missing[0]}: fetch it again")
    if model.config.is_encoder_decoder:
        raise UserError(f"{folder} holds a '{model.config.model_type}', which has a decoder: take an encoder alone")
    if hasattr(model, "pooler"):
        model.pooler = None
    return model.float().eval()


def tokenizer_of(folder: Path) -> Tokenizer:
    """The folder's tokenizer, which neither pads nor cuts."""
    words = _vocabulary(folder)
    if words.name == TOKENIZER:
        tokenizer = runtime.open_tokenizer(folder, None)
    else:
        case = {} if words.name != _BERT_VOCABULARY or _says_case(folder) else {"do_lower_case": not _has_case(words)}
        with quiet() as transformers:
            try:
                auto_tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **case, **LOCAL)
                tokenizer, files = auto_tokenizer.backend_tokenizer, sorted(auto_tokenizer.vocab_files_names.values())
            except Exception as error:  # its errors have no class of their own in common
                raise UserError(f"{folder} holds no tokenizer that transformers opens ({error})") from error
        if words.name not in files:  # of another kind of model: all words would be unknown
            raise UserError(f"{folder} has no words for its tokenizer: copy or fetch one of {', '.join(files)}")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@contextmanager
def quiet() -> Iterator[Any]:
    """The package transformers, showing neither progress nor remarks."""
    transformers = import_module("transformers")
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield transformers
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def _weights(folder: Path) -> list[Path]:
    """The files that transformers reads the weights from; none if not all are there."""
    for path in (folder / name for name in _WEIGHTS):
        if path.is_file():
            names = {*_read_object(path)["weight_map"].values()} if path.suffix == ".json" else {path.name}
            parts = [folder / part for part in sorted(names)]
            return parts if all(part.is_file() for part in parts) else []
    return []


def _vocabulary(folder: Path) -> Path:
    """The file that has the tokenizer's words."""
    for name in _VOCABULARIES:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{folder} has no tokenizer: copy or fetch {TOKENIZER}, or {', '.join(_VOCABULARIES[1:])}")


def _says_case(folder: Path) -> bool:
    path = folder / _TOKENIZER_CONFIG
    return path.is_file() and "do_lower_case" in _read_object(path)


def _has_case(words: Path) -> bool:
    """Whether a vocabulary has words in capitals. SciBERT's cased one says so nowhere else, and would be read wrong."""
    vocabulary = [word for word in words.read_text(encoding="utf-8").split("\n") if not word.startswith(("[", "<"))]
    return sum(word != word.lower() for word in vocabulary) > len(vocabulary) / 100


def _pooling(folder: Path) -> Pooling:
    if not (folder / _POOLING).is_file():
        return "cls"
    config = _read_object(folder / _POOLING)
    modes = {key.removeprefix("pooling_mode_") for key, value in config.items() if "pooling_mode_" in key and value}
    modes |= {config["pooling_mode"]} if "pooling_mode" in config else set()
    modules = _read_json(folder / _MODULES) if (folder / _MODULES).is_file() else []
    further = {module["type"].rpartition(".")[2] for module in modules} - _MODULE_TYPES
    if len(modes) != 1 or not modes <= {*_MODES} or further:
        raise UserError(
            f"{folder} makes vectors by {', '.join(sorted(modes | further))}, but whycite by 'cls' or 'mean' alone: "
            f"choose one as 'pooling' in {folder / ENCODER_SETTINGS}"
        )
    return _MODES[modes.pop()]


def _read_object(path: Path) -> dict[str, Any]:
    content = _read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no JSON object: mend or remove it")
    return content


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): mend or remove it") from error
