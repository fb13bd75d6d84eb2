"""The ways whycite says no: a user's mistake, somebody else at work, no library, an extra that is not installed."""

__all__ = ["Busy", "MissingExtra", "NoLibrary", "UserError"]


class UserError(Exception):
    """A mistake the user can mend; the message is one plain sentence that says how."""


class Busy(UserError):
    """Another program is at work on the same; later it can be done."""


class NoLibrary(UserError):
    """There is no library yet, or nothing was added to it."""


class MissingExtra(Exception):
    """A feature whose optional dependencies are not installed; the message holds the install line."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs more packages: pip install 'whycite[{extra}]'")
