"""Writes to a store of cascaded, and asks the daemon. Only the standard library is used.

    store = cascade.Store("/srv/music.db", author="music/1.0")
    with store.transaction() as tx:
        tx.put("albums", album, {"title": "Pastel Blues", "artist": nina})
        tx.delete("songs", old)
    print(tx.receipt["deletedCount"])

In a value of a column, bytes and numbers that are not finite are written as what they are. Reading needs no
module: open the database with sqlite3.
"""
from __future__ import annotations

import base64
import contextlib
import datetime
import json
import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union, cast

Key = Union[str, int, Sequence[Union[str, int]]]
Node = tuple[str, Key]

# One part of an upload. In base64, with the call around it, it is below the daemon's limit.
PART = 512 << 10


class WriteError(Exception):
    """A write has no effect, or is not known to have one."""


class Refused(WriteError):
    """Nothing took effect. Each of `reasons` has a code, a message, perhaps a node and an edge."""

    def __init__(self, receipt: dict[str, Any]) -> None:
        self.receipt = receipt
        self.reasons: list[dict[str, Any]] = receipt.get("reasons", [])
        super().__init__("; ".join(reason["message"] for reason in self.reasons))


class Denied(Refused):
    """A rule denies a deletion."""


class Rejected(Refused):
    """The changes are not valid."""


class Changed(Rejected):
    """A node has other values than the change expects, or is not there: `node`."""

    @property
    def node(self) -> list[Any]:
        return next(r["node"] for r in self.reasons if r["code"] == "changed")


class DeletesItself(Rejected):
    """A write would delete the very node that it writes, because `edge` leads nowhere."""

    @property
    def edge(self) -> dict[str, Any]:
        return next(r["edge"] for r in self.reasons if r["code"] == "deletesItself")


class Held(Refused):
    """The changes would delete so much that they wait for approval, as the plan `plan`."""

    @property
    def plan(self) -> int:
        return int(self.receipt["plan"])


class Pending(WriteError):
    """The changes are in the queue. `receipt(id)` tells what became of them."""

    def __init__(self, id: str, why: str) -> None:
        self.id, self.why = id, why
        super().__init__(f"{id} waits in the queue: {why}")


class Unavailable(WriteError):
    """The daemon is away. If `is_queued`, the changes take effect when it is back."""

    def __init__(self, why: str, is_queued: bool = False) -> None:
        self.why, self.is_queued = why, is_queued
        super().__init__(why)


class CallError(Exception):
    """The daemon answered with an error."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.name, self.parameters = name.rpartition(".")[2], parameters
        super().__init__(f"{self.name} {json.dumps(parameters)}")


def uuid7() -> str:
    """A new key: a UUID that begins with the time."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * 4096 // 1_000_000
    number = milliseconds << 80 | 7 << 76 | fraction << 64 | 2 << 62 | secrets.randbits(62)
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _column(value: Any) -> Any:
    """A value of a column, as a change file says it."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$blob": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$real": "NaN" if math.isnan(value) else "-Infinity" if value < 0 else "Infinity"}
    return value


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _column(value) for name, value in values.items()}


def _name(node: Node) -> str:
    """A node in the parameters of a call."""
    return json.dumps(list(node))


def _edge(name: str, source: Node, to: Any, rules: Iterable[str] | None) -> dict[str, Any]:
    """Without rules, those of the model stand."""
    edge = {"name": name, "from": list(source), "to": to}
    if rules is not None:
        edge["rules"] = list(rules)
    return edge


class Transaction:
    """The changes of one write. They apply in the order in which they are made.

    With `may_delete_itself=False`, a write that would delete a node that it writes, because a reference
    of its own leads nowhere, raises DeletesItself. Otherwise `receipt["deletedOwn"]` lists such nodes.
    """

    def __init__(self, id: str | None = None, *, may_delete_itself: bool = True) -> None:
        self.id = id or uuid7()
        self.may_delete_itself = may_delete_itself
        self.changes: list[dict[str, Any]] = []
        self.receipt: dict[str, Any] = {}

    def put(
        self, collection: str, key: Key, value: dict[str, Any] | None = None, *,
        edges: Iterable[dict[str, Any]] | None = None, type: str | None = None,
        merge: bool = False,
    ) -> None:
        """Inserts or replaces a node. `edges` is its whole declared list. With `merge`, columns or
        properties that `value` does not give stay as they are."""
        change: dict[str, Any] = {"put": [collection, key]}
        if type is not None:
            change["type"] = type
        if value is not None:
            change["value"] = _columns(value)
        if edges is not None:
            change["edges"] = list(edges)
        if merge:
            change["merge"] = True
        self.changes.append(change)

    def patch(
        self, collection: str, key: Key, set: dict[str, Any] | None = None,
        unset: Iterable[str] = (), *, if_unchanged: dict[str, Any] | None = None,
    ) -> None:
        """Changes some columns or properties of a node that exists; with `if_unchanged`, only if it
        still has these values. Otherwise the write raises Changed."""
        change: dict[str, Any] = {"patch": [collection, key]}
        if set:
            change["set"] = _columns(set)
        if unset := list(unset):
            change["unset"] = unset
        if if_unchanged is not None:
            change["ifUnchanged"] = _columns(if_unchanged)
        self.changes.append(change)

    def delete(
        self, collection: str, key: Key, *, if_unchanged: dict[str, Any] | None = None,
    ) -> None:
        change: dict[str, Any] = {"delete": [collection, key]}
        if if_unchanged is not None:
            change["ifUnchanged"] = _columns(if_unchanged)
        self.changes.append(change)

    def delete_all(self, collection: str) -> None:
        self.changes.append({"deleteAll": collection})

    def link(
        self, name: str, source: Node, to: Node, rules: Iterable[str] | None = None,
    ) -> None:
        """Adds an edge where the model says that the edges of the name live, or by hand. Rules are for
        edges that are made by hand; without them, those of the model stand."""
        self.changes.append({"link": _edge(name, source, list(to), rules)})

    def unlink(self, name: str, source: Node, to: Node, as_: str = "sourceDeleted") -> None:
        """Removes an edge."""
        self.changes.append({"unlink": _edge(name, source, list(to), None), "as": as_})

    def relink(
        self, name: str, source: Node, to: Iterable[Node], rules: Iterable[str] | None = None,
    ) -> None:
        """Makes these all edges of the name from the node that a link may add."""
        self.changes.append({"relink": _edge(name, source, [list(node) for node in to], rules)})

    def flush(self) -> None:
        """Runs the rules now, and not only at the end."""
        self.changes.append({"flush": True})


class _Wire:
    """A connection, on which one call is made at a time."""

    def __init__(self, path: str, store: str | None) -> None:
        self.store = store
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise
        self.rest = b""

    def __del__(self) -> None:
        self.socket.close()

    def send(self, method: str, parameters: dict[str, Any], more: bool = False) -> None:
        if self.store is not None:
            parameters = {**parameters, "store": self.store}
        call: dict[str, Any] = {"method": f"io.cascaded.Control.{method}", "parameters": parameters}
        if more:
            call["more"] = True
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive(self, deadline: float | None = None) -> tuple[dict[str, Any], bool]:
        """The parameters of a reply, and whether more replies follow."""
        parts = [self.rest]
        while b"\0" not in parts[-1]:
            if deadline is not None:
                self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionError("the daemon closed the connection")
            parts.append(part)
        frame, _, self.rest = b"".join(parts).partition(b"\0")
        reply = json.loads(frame)
        if "error" in reply:
            raise CallError(reply["error"], reply.get("parameters") or {})
        return reply.get("parameters") or {}, bool(reply.get("continues"))

    def call(
        self, method: str, parameters: dict[str, Any], deadline: float | None = None,
    ) -> dict[str, Any]:
        self.send(method, parameters)
        return self.receive(deadline)[0]


class _Wires:
    """Connections that no call uses now. Each call has one of its own."""

    def __init__(self, path: str, store: str | None) -> None:
        self.path, self.store = path, store
        self.lock = threading.Lock()
        self.idle: list[_Wire] = []
        self.process = os.getpid()

    def take(self) -> tuple[_Wire, bool]:
        """A connection, and whether it was used before: the daemon may have ended since."""
        with self.lock:
            if self.process != os.getpid():
                # Those of the parent process are its own.
                self.idle, self.process = [], os.getpid()
            if self.idle:
                return self.idle.pop(), True
        return _Wire(self.path, self.store), False

    def give_back(self, wire: _Wire) -> None:
        """After a call that was answered to its end."""
        wire.socket.settimeout(None)
        with self.lock:
            self.idle.append(wire)


class Store:
    """A store, and the daemon that serves it. Threads may share it."""

    def __init__(
        self, path: str | os.PathLike[str], *, socket: str | None = None, spool: str | None = None,
        author: str | None = None,
    ) -> None:
        self.path = os.path.abspath(path)
        self.socket = socket or f"{self.path}.cascade/control"
        self.spool = spool or f"{self.path}.cascade"
        self.author = author
        self._store = self.path if socket else None
        self._wires = _Wires(self.socket, self._store)

    @contextlib.contextmanager
    def transaction(
        self, *, spool: bool = False, timeout: float = 30, may_delete_itself: bool = True,
    ) -> Iterator[Transaction]:
        """Writes what the block makes, when it ends without an error. Then `receipt` is there."""
        transaction = Transaction(may_delete_itself=may_delete_itself)
        yield transaction
        self.submit(transaction, spool=spool, timeout=timeout)

    def submit(
        self, transaction: Transaction, *, spool: bool = False, timeout: float = 30,
    ) -> dict[str, Any]:
        """Writes. The same transaction, submitted again, takes effect once."""
        file: dict[str, Any] = {"id": transaction.id, "changes": transaction.changes}
        if self.author is not None:
            file["author"] = self.author
        if not transaction.may_delete_itself:
            file["mayDeleteItself"] = False
        data = json.dumps(file, allow_nan=False).encode()
        deadline = time.monotonic() + timeout
        if spool:
            self._enqueue(transaction.id, data)
            receipt = self._wait(transaction.id, deadline)
        else:
            receipt = self._send(transaction.id, data, deadline)
        transaction.receipt = receipt
        if receipt["outcome"] == "held":
            raise Held(receipt)
        if receipt["outcome"] == "rejected":
            codes = {reason["code"] for reason in receipt["reasons"]}
            kinds = {"denied": Denied, "changed": Changed, "deletesItself": DeletesItself}
            raise next((kinds[code] for code in kinds if code in codes), Rejected)(receipt)
        return receipt

    def receipt(self, id: str, wait: bool = False) -> dict[str, Any]:
        """What became of a change file: `state`, and a receipt or a reason to wait."""
        return self.call("Receipt", id=id, wait=wait)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of `io.cascaded.Control`."""
        while True:
            was_used = False
            try:
                wire, was_used = self._wires.take()
                try:
                    reply = wire.call(method, parameters)
                except CallError:
                    self._wires.give_back(wire)
                    raise
                self._wires.give_back(wire)
                return reply
            except OSError as error:
                if not was_used:
                    raise Unavailable(str(error)) from error

    def follow(self, method: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """The replies to a call, as they come: `follow("Notices", follow=True)`."""
        try:
            wire = _Wire(self.socket, self._store)
            with contextlib.closing(wire.socket):
                wire.send(method, parameters, more=True)
                continues = True
                while continues:
                    reply, continues = wire.receive()
                    yield reply
        except OSError as error:
            raise Unavailable(str(error)) from error

    def delete(
        self, *nodes: Node, expect: int | None = None, partial: bool = False, wait: bool = True,
    ) -> dict[str, Any]:
        """Deletes nodes with all that follows, in steps: the job when it has ended or needs an answer, or at
        once. `state` is `done`, `held` (`approve(job["plan"])`), `blocked`, `cancelled` or `running`."""
        return self._begin(expect, partial, wait, nodes=[_name(node) for node in nodes])

    def delete_rows(
        self, collection: str, where: str, *, expect: int | None = None, partial: bool = False,
        wait: bool = True,
    ) -> dict[str, Any]:
        """The same for the rows of a collection for which an SQL expression holds."""
        return self._begin(expect, partial, wait, collection=collection, where=where)

    def _begin(
        self, expect: int | None, partial: bool, wait: bool, **subject: Any,
    ) -> dict[str, Any]:
        job = self.call("Delete", expect=expect, partial=partial, wait=wait, **subject)["job"]
        return cast(dict[str, Any], job)

    def jobs(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """The jobs after a number, the oldest first."""
        for reply in self.follow("Jobs", after=after):
            yield from reply["jobs"]

    def deleted(
        self, after: int | None = None, collection: str | None = None, values: bool = False
    ) -> Iterator[dict[str, Any]]:
        """The nodes that went after a number, and then those that go, one by one. Whoever remembers the last
        number that he has done misses none, and does each once."""
        parameters: dict[str, Any] = {"follow": True, "values": values}
        if after is not None:
            parameters["after"] = after
        if collection is not None:
            parameters["collection"] = collection
        for reply in self.follow("Deleted", **parameters):
            yield from reply["deleted"]

    def erase(
        self, node: Node, expect: int | None = None, accept: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Deletes a node with all that follows, so that nothing is left of it. Returns what became of it, with
        a report and its salt. `accept` are columns that were looked at, as "table.column"."""
        parameters: dict[str, Any] = {"node": _name(node), "accept": list(accept)}
        if expect is not None:
            parameters["expect"] = expect
        return cast(dict[str, Any], self.call("Erase", **parameters)["erasure"])

    def cancel(self, job: int) -> dict[str, Any]:
        """Ends a job. What it has deleted is its batch, which `undo` takes."""
        return cast(dict[str, Any], self.call("Cancel", job=job)["job"])

    def approve(self, plan: int) -> dict[str, Any]:
        """Approves a held plan, and returns its receipt."""
        return cast(dict[str, Any], self.call("Approve", plan=plan)["receipt"])

    def reject(self, plan: int) -> dict[str, Any]:
        """Rejects a held plan: what it would have deleted stays."""
        return self.call("Reject", plan=plan)

    def undo(self, what: int | Node) -> dict[str, Any]:
        """Brings back what a batch deleted; or one node with what went because of it, and nothing else."""
        subject = {"batch": what} if isinstance(what, int) else {"node": _name(what)}
        return cast(dict[str, Any], self.call("Undo", **subject)["undone"])

    def protect(
        self, node: Node, reason: str, until: datetime.datetime | None = None,
    ) -> dict[str, Any]:
        """Keeps a node, and all that its deletion would take along, from every deletion."""
        end = None if until is None else round(until.timestamp() * 1000)
        reply = self.call("Protect", node=_name(node), reason=reason, until=end)
        return cast(dict[str, Any], reply["protection"])

    def unprotect(self, node: Node) -> dict[str, Any]:
        """Ends the protection of a node."""
        return cast(dict[str, Any], self.call("Unprotect", node=_name(node))["protection"])

    def protections(self) -> list[dict[str, Any]]:
        """The nodes that are protected themselves."""
        return cast("list[dict[str, Any]]", self.call("Protections")["protections"])

    @contextlib.contextmanager
    def lease(self, *nodes: Node, owner: str | None = None) -> Iterator[None]:
        """Holds nodes until the block ends, or the process."""
        parameters: dict[str, Any] = {"nodes": [_name(node) for node in nodes]}
        if owner is not None:
            parameters["owner"] = owner
        replies = self.follow("Lease", **parameters)
        next(replies)
        try:
            yield
        finally:
            replies.close()  # type: ignore[attr-defined]

    def _send(self, id: str, data: bytes, deadline: float) -> dict[str, Any]:
        """Sends until there is a receipt: the daemon recognises a repetition by the id."""
        is_sent, why = False, [""]
        while True:
            was_used = False
            try:
                wire, was_used = self._wires.take()
                file = self._upload(wire, data, deadline)
                is_sent = True
                wire.send("Apply", {"name": f"{id}.json", **file}, more=True)
                return self._receipt(wire, id, deadline, why)
            except CallError as error:
                if is_sent and self.receipt(id)["state"] == "waiting":
                    raise Pending(id, str(error)) from error
                raise Unavailable(str(error)) from error
            except OSError as error:
                if time.monotonic() >= deadline:
                    late = Pending(id, why[0] or str(error)) if is_sent else Unavailable(str(error))
                    raise late from error
                if not is_sent and not was_used:
                    raise Unavailable(str(error)) from error
            time.sleep(0.02)

    def _receipt(
        self, wire: _Wire, id: str, deadline: float, why: list[str],
    ) -> dict[str, Any]:
        """The receipt at the end of the replies; `why` gets what the file waits for meanwhile."""
        while True:
            reply, continues = wire.receive(deadline)
            why[0] = reply.get("waiting") or why[0]
            if receipt := reply.get("receipt"):
                # A file that cannot be read has its name as its id.
                if receipt["id"] not in (id, f"{id}.json"):
                    raise ConnectionError(f"the receipt is of {receipt['id']}, and not of {id}")
                if not continues:
                    self._wires.give_back(wire)
                return receipt

    def _upload(self, wire: _Wire, data: bytes, deadline: float) -> dict[str, Any]:
        """What names the file in the call that applies it: a small one comes with the call."""
        parts = [base64.b64encode(data[at:at + PART]).decode() for at in range(0, len(data), PART)]
        if len(parts) == 1:
            return {"data": parts[0]}
        upload = None
        for part in parts:
            upload = wire.call("Upload", {"upload": upload, "data": part}, deadline)["upload"]
        return {"upload": upload}

    def _enqueue(self, id: str, data: bytes) -> None:
        """When this returns, the file is on the disk."""
        temporary = f"{self.spool}/tmp/{id}.json"
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, f"{self.spool}/new/{id}.json")
            queue = os.open(f"{self.spool}/new", os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(queue)
            finally:
                os.close(queue)
        except OSError as error:
            raise Unavailable(str(error)) from error

    def _wait(self, id: str, deadline: float) -> dict[str, Any]:
        why = ["the daemon did not answer in time"]
        while True:
            was_used = False
            try:
                wire, was_used = self._wires.take()
                wire.send("Receipt", {"id": id, "wait": True}, more=True)
                return self._receipt(wire, id, deadline, why)
            except TimeoutError as error:
                raise Pending(id, why[0]) from error
            except (OSError, CallError) as error:
                if not was_used or isinstance(error, CallError):
                    raise Unavailable(str(error), is_queued=True) from error
