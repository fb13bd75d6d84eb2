"""Where papers come from: reference managers, and services with full texts.

- `items`: adds items of any source to a library, only those that changed, and keeps their citation keys.
- `zotero`: the user's Zotero library, from a copy of its database or over its local interface.
- `bibfiles`: bibliographies whose entries name their files, as JabRef, Mendeley and Zotero export them.
- `fetching`: freely available full texts; `openaccess` says where they are.
"""

from __future__ import annotations

__all__: list[str] = []
