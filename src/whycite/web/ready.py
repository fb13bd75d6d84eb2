"""What answers need is loaded once the server answers, and by one thread: modules are not for two at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING

from whycite.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from whycite.web.current import Current

__all__ = ["Ready", "load_documents", "load_questions", "warm"]


class Ready:
    """Calls a function before the first that needs it; who comes meanwhile waits."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._lock = Lock()
        self._done = False

    def __call__(self) -> None:
        """Return once it has been called."""
        with self._lock:
            if not self._done:
                self._function()
                self._done = True


def load_questions() -> None:
    """Import what it takes to answer a question; the models open their files meanwhile."""
    with ThreadPoolExecutor(1) as beside:
        opened = beside.submit(_open_models)
        import whycite.library.library
        import whycite.recommend  # noqa: F401
    opened.result()


def load_documents() -> None:
    """Import what it takes to look at whole documents."""
    import whycite.check.fixing
    import whycite.check.pipeline
    import whycite.verify  # noqa: F401


def warm(current: Current) -> None:
    """Ask a first question, so that models and tables are at hand for the first of somebody else."""
    from whycite import worthiness
    from whycite.recommend import Claim

    try:
        current.method().recommend(Claim("the first question takes longest"), 1)
        worthiness.load()
    except (UserError, MissingExtra):
        return  # no library yet, or none that can be opened: whoever asks is told


def _open_models() -> None:
    from whycite.encoders import load
    from whycite.rerank.ranker import stored_with

    encoder = load()
    encoder.encode(["a word"])
    if ranker := stored_with(encoder):
        ranker.score("paper", "a word", ["another"])
