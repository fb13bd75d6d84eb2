"""The services on a local server."""

from tests.references.conftest import local_services

__all__ = ["local_services"]
