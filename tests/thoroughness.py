"""How much tests try: enough on every run, and all of it with WHYCITE_TESTS=thorough, which `make test-all` sets."""

import os

THOROUGH = os.environ.get("WHYCITE_TESTS") == "thorough"
# Where a quarter of hostile input is read in linear time, all of it is; whatever takes quadratic time is slow enough.
_PART = 1 if THOROUGH else 4
MAX_SECONDS = 30 if THOROUGH else 5  # of processor time for hostile input; what is linear takes a tenth


def scaled(size: int) -> int:
    """How much of hostile input is tried, if it is this much in the thorough run."""
    return size // _PART


def examples(number: int) -> int:
    """How many examples of a property are tried, if it is this many in the thorough run."""
    return number if THOROUGH else max(number * 2 // 5, 5)
