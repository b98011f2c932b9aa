"""The changes of one write."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .replies import Receipt
from .values import Key, Node, columns, key as key_form, node, uuid7


def _declared(edge: Mapping[str, Any]) -> dict[str, Any]:
    """An edge of the list of a put. It may lead to a file: `{"file": path, "root": root}`."""
    to = edge["to"]
    return {**edge, "to": to if isinstance(to, Mapping) else node(to)}


def _ruled(edge: dict[str, Any], rules: Iterable[str] | None) -> dict[str, Any]:
    return edge if rules is None else {**edge, "rules": list(rules)}


class Transaction:
    """The changes of one write. They apply in the order in which they are made.

    With `may_delete_itself=False`, a write that would delete a node that it writes, because a reference
    of its own leads nowhere, raises DeletesItself. Otherwise `receipt["deletedOwn"]` lists such nodes.
    """

    def __init__(self, id: str | None = None, *, may_delete_itself: bool = True) -> None:
        self.id = id or uuid7()
        self.may_delete_itself = may_delete_itself
        self.changes: list[dict[str, Any]] = []
        self.receipt: Receipt = {}

    def put(
        self, collection: str, key: Key, value: Mapping[str, Any] | None = None, *,
        edges: Iterable[Mapping[str, Any]] | None = None, type: str | None = None,
        merge: bool = False,
    ) -> None:
        """Inserts or replaces a node. `edges` is its whole declared list: each has a name, `to`, and perhaps
        rules. With `merge`, columns or properties that `value` does not give stay as they are."""
        change: dict[str, Any] = {"put": [collection, key_form(key)]}
        if type is not None:
            change["type"] = type
        if value is not None:
            change["value"] = columns(value)
        if edges is not None:
            change["edges"] = [_declared(edge) for edge in edges]
        if merge:
            change["merge"] = True
        self.changes.append(change)

    def patch(
        self, collection: str, key: Key, set: Mapping[str, Any] | None = None,
        unset: Iterable[str] = (), *, if_unchanged: Mapping[str, Any] | None = None,
    ) -> None:
        """Changes some columns or properties of a node that exists; with `if_unchanged`, only if it
        still has these values. Otherwise the write raises Changed."""
        change: dict[str, Any] = {"patch": [collection, key_form(key)]}
        if set:
            change["set"] = columns(set)
        if unset := list(unset):
            change["unset"] = unset
        if if_unchanged is not None:
            change["ifUnchanged"] = columns(if_unchanged)
        self.changes.append(change)

    def delete(
        self, collection: str, key: Key, *, if_unchanged: Mapping[str, Any] | None = None,
    ) -> None:
        """Deletes a node. One that is not there is counted in `receipt["passedOver"]`."""
        change: dict[str, Any] = {"delete": [collection, key_form(key)]}
        if if_unchanged is not None:
            change["ifUnchanged"] = columns(if_unchanged)
        self.changes.append(change)

    def delete_all(self, collection: str) -> None:
        """Deletes all nodes of a collection."""
        self.changes.append({"deleteAll": collection})

    def link(
        self, name: str, source: Node, to: Node, rules: Iterable[str] | None = None,
    ) -> None:
        """Adds an edge where the model says that the edges of the name live, or by hand. Rules are for
        edges that are made by hand; without them, those of the model stand."""
        edge = {"name": name, "from": node(source), "to": node(to)}
        self.changes.append({"link": _ruled(edge, rules)})

    def unlink(self, name: str, source: Node, to: Node, as_: str = "sourceDeleted") -> None:
        """Removes an edge."""
        edge = {"name": name, "from": node(source), "to": node(to)}
        self.changes.append({"unlink": edge, "as": as_})

    def relink(
        self, name: str, source: Node, to: Iterable[Node], rules: Iterable[str] | None = None,
    ) -> None:
        """Makes these all edges of the name from the node that a link may add."""
        edge = {"name": name, "from": node(source), "to": [node(one) for one in to]}
        self.changes.append({"relink": _ruled(edge, rules)})

    def flush(self) -> None:
        """Runs the rules now, and not only at the end."""
        self.changes.append({"flush": True})

    def file(self, author: str | None) -> bytes:
        """The change file. The same changes are the same bytes."""
        file: dict[str, Any] = {"id": self.id, "changes": self.changes}
        if author is not None:
            file["author"] = author
        if not self.may_delete_itself:
            file["mayDeleteItself"] = False
        return json.dumps(file, allow_nan=False).encode()
