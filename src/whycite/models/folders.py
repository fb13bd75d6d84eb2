"""Load model folders: find them by name, check settings and version, open tokenizer and model.

A folder holds either an ONNX model (`model.onnx`, `tokenizer.json`) or a Hugging Face model (`config.json`, weights,
vocabulary), which PyTorch runs. Its settings file says how to use the model; the name of that file says whether it is
an encoder, a ranker or a worthiness model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

__all__ = [
    "BUNDLED",
    "CONFIG",
    "ENCODER",
    "ENTAILMENT",
    "HEAD",
    "LOCAL",
    "MODEL",
    "PACKED",
    "PACKED_BLOCK",
    "RANKER",
    "TOKENIZER",
    "WORTHINESS",
    "ModelFolder",
    "ModelKind",
    "ModelSettings",
    "Pooling",
    "files_version",
    "quiet_transformers",
    "require_torch",
    "unpack_weights",
]

BUNDLED = Path(__file__).resolve().parent  # the bundled weights are next to this file
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
PACKED = "weights.npz"  # the matrices of a graph in 4 bits, where the graph does not hold them itself
PACKED_BLOCK = 32  # numbers of a column that share a step
Pooling = Literal["cls", "mean"]
_CHARACTERS_A_TOKEN = 32  # a generous maximum, since prose has five; the rest of a text is cut off

# Of Hugging Face models
CONFIG = "config.json"
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_PICKLES = "pytorch_model*.bin"  # the older format, which can run any code when it is opened
_BERT_VOCABULARY, _TOKENIZER_CONFIG = "vocab.txt", "tokenizer_config.json"
_OTHER_VOCABULARIES = ("vocab.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model")
_VOCABULARIES = (TOKENIZER, _BERT_VOCABULARY, *_OTHER_VOCABULARIES)
_TOKENIZER_FILES = ("merges.txt", _TOKENIZER_CONFIG, "special_tokens_map.json", "added_tokens.json")
LOCAL = {"local_files_only": True, "trust_remote_code": False}  # no network, and no code from models

# Of sentence-transformers
_MODULES, _POOLING = "modules.json", "1_Pooling/config.json"
_MODULE_TYPES = {"Transformer", "Pooling", "Normalize"}
_MODES: dict[str, Pooling] = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model: its name in messages, its settings file, and the command that trains one."""

    noun: str
    settings_file: str
    command: str
    required_files: tuple[str, ...] = ()  # besides the model and its tokenizer
    plugin_group: str = ""  # of entry points: functions that take the number of threads and return a model

    def bundled(self) -> list[str]:
        """The names of the bundled models of this kind."""
        return sorted(path.parent.name for path in BUNDLED.glob(f"*/{self.settings_file}"))

    def plugins(self) -> dict[str, EntryPoint]:
        """The models of this kind from other packages, by name; bundled ones take precedence."""
        entries = entry_points(group=self.plugin_group) if self.plugin_group else ()
        return {entry.name: entry for entry in entries if entry.name not in self.bundled()}

    def find(self, name: str | Path) -> Path:
        """The folder of a bundled model, a path, or "owner/model" in the Hugging Face cache."""
        if name in self.bundled():
            return BUNDLED / name
        path = Path(name) if Path(name).is_dir() else _cached_snapshot(name) if isinstance(name, str) else None
        if path is None:
            names = ", ".join([*self.bundled(), *sorted(self.plugins())])
            raise UserError(f"no {self.noun} '{name}'; use {names}, the path of a folder, or a Hugging Face name")
        return path


HEAD = "head.npz"  # the last layers of a worthiness model
ENCODER = ModelKind("encoder", "encoder.json", "whycite train claims", plugin_group="whycite.encoders")
ENTAILMENT = ModelKind(
    "entailment model", "entailment.json", "whycite train entailment", ("entailment.json", MODEL, TOKENIZER)
)
RANKER = ModelKind("ranker", "ranker.json", "whycite train ranker", ("ranker.json", MODEL, TOKENIZER))
WORTHINESS = ModelKind(
    "worthiness model", "worthiness.json", "whycite train worthiness", ("worthiness.json", TOKENIZER, HEAD)
)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How to use an encoder or a ranker; `version` and `dimensions` are optional."""

    name: str
    version: str = ""
    dimensions: int = 0
    max_tokens: int = 256
    pooling: Pooling = "cls"
    prefix: str = ""

    def clean(self, text: str) -> str:
        """A text as the model reads it: prefixed, with single spaces, without lone surrogates, cut to a safe length."""
        text = " ".join(text.split())[: self.max_tokens * _CHARACTERS_A_TOKEN]
        return self.prefix + text.encode("utf-8", "replace").decode("utf-8")

    def write(self, folder: Path, kind: ModelKind = ENCODER) -> None:
        """Write the settings file of a folder."""
        content = json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"
        (folder / kind.settings_file).write_text(content, encoding="utf-8")


def files_version(files: Iterable[Path], settings: ModelSettings | None = None) -> str:
    """Eight hex digits from everything that a model's output depends on: its files and settings."""
    usage = json.dumps([settings.max_tokens, settings.pooling, settings.prefix]) if settings else ""
    digest = hashlib.sha256(usage.encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


class ModelFolder:
    """A model folder; missing files are reported at once, tokenizer and model are opened on request.

    If it has both, the ONNX model is used, or with `original` the Hugging Face model it was made from.
    """

    def __init__(self, path: Path, kind: ModelKind = ENCODER, *, original: bool = False) -> None:
        self.path, self.kind = path, kind
        self.is_onnx = not (path / CONFIG).is_file() or (not original and (path / MODEL).is_file())
        for name in (*kind.required_files, *((MODEL, TOKENIZER) if self.is_onnx else ())):
            if not (path / name).is_file():
                problem = "this is not a complete" if path.is_dir() else "there is no such"
                raise UserError(
                    f"{path} has no {name}: {problem} {kind.noun} folder; copy it again, or train one with "
                    f"'{kind.command}'"
                )

    @property
    def settings_path(self) -> Path:
        """The path of the settings file."""
        return self.path / self.kind.settings_file

    def read_settings(self) -> dict[str, Any]:
        """Read the settings file."""
        return _read_object(self.settings_path)

    @cached_property
    def settings(self) -> ModelSettings:
        """The settings from the settings file, else from sentence-transformers, else those of most encoders."""
        content = {"name": self.path.resolve().name, **(self.read_settings() if self.settings_path.is_file() else {})}
        if not self.is_onnx and "pooling" not in content:
            content["pooling"] = self._pooling()
        return _check_settings(self.settings_path, content)

    @cached_property
    def version(self) -> str:
        """The version of the files; it must equal the one in the settings, if any."""
        version = files_version(self._files(), self.settings)
        if self.settings.version not in ("", version):
            raise UserError(
                f"{self.path} holds version {version} of '{self.settings.name}', but {self.kind.settings_file} says "
                f"{self.settings.version}: copy the folder again, or remove 'version' there if you changed the model"
            )
        return version

    def open_tokenizer(self, max_tokens: int | None = None) -> Tokenizer:
        """The tokenizer, without padding; it truncates texts only if `max_tokens` is given."""
        path = self.path / TOKENIZER if self.is_onnx else self._vocabulary()
        if path.name == TOKENIZER:
            try:
                tokenizer = _copy_tokenizer(_parse_tokenizer(path.read_bytes()))
            except Exception as error:  # it raises no specific class
                raise UserError(f"{path} is not a readable tokenizer ({error}): copy the folder again") from error
        else:
            tokenizer = self._transformers_tokenizer(path)
        if max_tokens:
            tokenizer.enable_truncation(max_tokens)
        return tokenizer

    def open_session(self) -> Any:
        """An ONNX Runtime session for the model."""
        import onnxruntime  # type: ignore[import-untyped]

        options = onnxruntime.SessionOptions()
        # Threads run whole batches (see `map_threaded`): faster than sharing one, and results stay the same.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        path = self.path / MODEL
        try:
            matrices = unpack_weights(self.path / PACKED) if (self.path / PACKED).is_file() else {}
            values = [onnxruntime.OrtValue.ortvalue_from_numpy(matrix) for matrix in matrices.values()]
            options.add_external_initializers([*matrices], values)
            return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no common base class
            raise UserError(f"{path} is not a model that can be run ({error}): copy or export it again") from error

    def open_torch_model(self) -> Any:
        """The Hugging Face model in 32 bits, without a pooling layer, in evaluation mode."""
        with quiet_transformers() as transformers:
            try:
                model, info = transformers.AutoModel.from_pretrained(
                    self.path, output_loading_info=True, use_safetensors=True, **LOCAL
                )
            except Exception as error:  # its errors have no common base class
                raise UserError(f"transformers cannot open the model in {self.path} ({error})") from error
        missing = sorted(name for name in info["missing_keys"] if not name.startswith("pooler."))
        if missing:
            raise UserError(
                f"{self.path} lacks {len(missing)} of the model's weights, such as {missing[0]}: download it again"
            )
        if model.config.is_encoder_decoder:
            raise UserError(f"{self.path} holds a '{model.config.model_type}', which has a decoder: use an encoder")
        if hasattr(model, "pooler"):
            model.pooler = None
        return model.float().eval()

    def _files(self) -> list[Path]:
        """Everything in the folder that the model's output depends on."""
        if self.is_onnx:
            packed = self.path / PACKED
            return [self.path / MODEL, *([packed] if packed.is_file() else []), self.path / TOKENIZER]
        weights = _weights(self.path)
        if not weights:
            if any(self.path.glob(_PICKLES)):
                raise UserError(
                    f"{self.path} has its weights as a pickle, which can run code when it is opened: "
                    f"save them as {_WEIGHTS[0]}, or download the model again"
                )
            raise UserError(f"{self.path} lacks the model's weights: it needs all of {_WEIGHTS[0]}")
        vocabulary = self._vocabulary()
        rule_files = () if vocabulary.name == TOKENIZER else _TOKENIZER_FILES
        rules = [self.path / name for name in rule_files if (self.path / name).is_file()]
        return [self.path / CONFIG, vocabulary, *rules, *weights]

    def _vocabulary(self) -> Path:
        for name in _VOCABULARIES:
            if (self.path / name).is_file():
                return self.path / name
        raise UserError(f"{self.path} has no tokenizer: it needs {TOKENIZER}, or {', '.join(_VOCABULARIES[1:])}")

    def _transformers_tokenizer(self, vocabulary: Path) -> Tokenizer:
        case = {}
        config = self.path / _TOKENIZER_CONFIG
        if vocabulary.name == _BERT_VOCABULARY and not (config.is_file() and "do_lower_case" in _read_object(config)):
            case["do_lower_case"] = not _has_case(vocabulary)
        with quiet_transformers() as transformers:
            try:
                auto_tokenizer = transformers.AutoTokenizer.from_pretrained(self.path, **case, **LOCAL)
                tokenizer: Tokenizer = auto_tokenizer.backend_tokenizer
                files = sorted(auto_tokenizer.vocab_files_names.values())
            except Exception as error:  # its errors have no common base class
                raise UserError(f"transformers cannot open the tokenizer in {self.path} ({error})") from error
        if vocabulary.name not in files:  # belongs to another kind of model: all words would be unknown
            raise UserError(f"{self.path} has no vocabulary for its tokenizer: it needs one of {', '.join(files)}")
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def _pooling(self) -> Pooling:
        """The pooling that sentence-transformers uses, if its settings say so."""
        if not (self.path / _POOLING).is_file():
            return "cls"
        config = _read_object(self.path / _POOLING)
        modes = {key.removeprefix("pooling_mode_") for key, value in config.items() if "pooling_mode_" in key and value}
        modes |= {config["pooling_mode"]} if "pooling_mode" in config else set()
        modules = _read_json(self.path / _MODULES) if (self.path / _MODULES).is_file() else []
        further = {module["type"].rpartition(".")[2] for module in modules} - _MODULE_TYPES
        if len(modes) != 1 or not modes <= {*_MODES} or further:
            raise UserError(
                f"{self.path} makes vectors by {', '.join(sorted(modes | further))}; whycite only knows 'cls' and "
                f"'mean': choose one as 'pooling' in {self.settings_path}"
            )
        return _MODES[modes.pop()]


def unpack_weights(path: Path) -> dict[str, NDArray[np.int8]]:
    """The matrices of a file that `whycite.lab.train.quantisation.pack_weights` wrote, in 8 bits.

    A byte holds a number of the upper half of a column and one of the lower half, each a multiple of its block's step.
    """
    import numpy as np

    matrices = {}
    with np.load(path, allow_pickle=False) as file:
        for name in file.files:
            kind, _, of = name.partition(".")
            if kind != "values":
                continue
            halves, steps = file[name], file[f"steps.{of}"].astype(np.int8)
            values = np.concatenate([halves & 15, halves >> 4]).astype(np.int8) - np.int8(8)
            blocks = values.reshape(len(steps), PACKED_BLOCK, -1) * steps[:, None]
            matrices[of] = blocks.reshape(len(values), -1)[: int(file[f"rows.{of}"])]
    return matrices


def require_torch(feature: str, *packages: str) -> None:
    """Raise an error with installation instructions if a package to run Hugging Face models is missing."""
    if any(find_spec(package) is None for package in ("torch", "transformers", *packages)):
        raise MissingExtra(feature, "train")


@contextmanager
def quiet_transformers() -> Iterator[Any]:
    """The package transformers, without progress bars and log messages."""
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


def _cached_snapshot(name: str) -> Path | None:
    """The folder of the model "owner/model" in the Hugging Face cache; None if no model can have that name."""
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
    raise UserError(
        f"'{name}' is neither a folder nor a model in the Hugging Face cache; to download it: hf download {name}"
    )


def _weights(folder: Path) -> list[Path]:
    """The files that transformers reads the weights from; empty if any is missing."""
    for path in (folder / name for name in _WEIGHTS):
        if path.is_file():
            names = {*_read_object(path)["weight_map"].values()} if path.suffix == ".json" else {path.name}
            parts = [folder / part for part in sorted(names)]
            return parts if all(part.is_file() for part in parts) else []
    return []


def _check_settings(path: Path, content: dict[str, Any]) -> ModelSettings:
    defaults = asdict(ModelSettings(""))
    for key, value in content.items():
        if key not in defaults:
            raise UserError(f"{path}: unknown setting '{key}'; the settings are {', '.join(defaults)}")
        if type(value) is not type(defaults[key]):
            kind = "text" if isinstance(defaults[key], str) else "a whole number"
            raise UserError(f"{path}: '{key}' must be {kind}, not {value!r}")
    settings = ModelSettings(**content)
    if settings.pooling not in get_args(Pooling):
        raise UserError(f"{path}: 'pooling' must be one of {', '.join(get_args(Pooling))}, not '{settings.pooling}'")
    if settings.max_tokens < 3:
        raise UserError(f"{path}: 'max_tokens' must be 3 or more, not {settings.max_tokens}")
    return settings


@lru_cache(maxsize=2)
def _parse_tokenizer(content: bytes) -> Tokenizer:
    """Parse a tokenizer file, once: related models share it, and it takes longer to read than the model."""
    from tokenizers import Tokenizer

    return Tokenizer.from_buffer(content)


def _copy_tokenizer(parsed: Tokenizer) -> Tokenizer:
    """A copy of a tokenizer with its own truncation and without padding; vocabulary and rules are shared."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer(parsed.model)
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        if (rule := getattr(parsed, part)) is not None:
            setattr(tokenizer, part, rule)
    for _, token in sorted(parsed.get_added_tokens_decoder().items()):
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return tokenizer


def _has_case(vocabulary: Path) -> bool:
    """Whether a vocabulary has capitals; nothing else shows that SciBERT's cased one is cased."""
    words = [word for word in vocabulary.read_text(encoding="utf-8").split("\n") if not word.startswith(("[", "<"))]
    return sum(word != word.lower() for word in words) > len(words) / 100


def _read_object(path: Path) -> dict[str, Any]:
    content = _read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} is not a JSON object: correct it, or copy the folder again")
    return content


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): correct it, or copy the folder again") from error
