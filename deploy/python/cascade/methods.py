"""What a store can be asked: each method once, for either way to wait."""
from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, cast

from .errors import Unavailable, checked
from .replies import (
    DeletedNode, Erasure, Job, Protection, Receipt, ReceiptState, RejectedPlan, UndoReport)
from .sending import ChangeFile, enqueue, send
from .transaction import Transaction
from .transport import Transport
from .values import Node, moment, name
from .wire import Reply, Wires


def place(path: str | os.PathLike[str]) -> str:
    """What the daemon calls a store: the path of its file, or the address of its database."""
    path = os.fspath(path)
    return path if path.startswith("postgresql://") else os.path.abspath(path)


class Methods:
    """A store, and the daemon that serves it."""

    def __init__(
        self, transport: Transport, path: str | os.PathLike[str], *, socket: str | None = None,
        spool: str | None = None, author: str | None = None,
    ) -> None:
        self.path = place(path)
        self.socket = socket or f"{self.path}.cascade/control"
        self.spool = spool or f"{self.path}.cascade"
        self.author = author
        self._wires = Wires(transport, self.socket, self.path if socket else None)

    # Writing

    @contextlib.asynccontextmanager
    async def transaction(
        self, *, spool: bool = False, timeout: float = 30, may_delete_itself: bool = True,
    ) -> AsyncIterator[Transaction]:
        """Writes what the block makes, when it ends without an error. Then `receipt` is there."""
        transaction = Transaction(may_delete_itself=may_delete_itself)
        yield transaction
        await self.submit(transaction, spool=spool, timeout=timeout)

    async def submit(
        self, transaction: Transaction, *, spool: bool = False, timeout: float = 30,
    ) -> Receipt:
        """Writes. The same transaction, submitted again, takes effect once."""
        data = transaction.file(self.author)
        async with self._wires.transport.turn():
            file = ChangeFile(transaction.id, data, timeout)
            if spool:
                transaction.receipt = await enqueue(self._wires, file, self.spool)
            else:
                transaction.receipt = await send(self._wires, file)
        return checked(transaction.receipt)

    async def receipt(self, id: str, wait: bool = False) -> ReceiptState:
        """What became of a change file: `state`, and a receipt or a reason to wait."""
        return cast(ReceiptState, await self.call("Receipt", id=id, wait=wait))

    # Any method of the protocol

    async def call(self, /, method: str, **parameters: Any) -> Reply:
        """Calls a method of `io.cascaded.Control`."""
        try:
            async with self._wires.wire() as wire:
                return await wire.call(method, parameters)
        except OSError as error:
            raise Unavailable(str(error)) from error

    async def follow(self, /, method: str, **parameters: Any) -> AsyncGenerator[Reply, None]:
        """The replies to a call, as they come: `follow("Notices", follow=True)`."""
        try:
            wire = await self._wires.connect()
            with contextlib.closing(wire):
                await wire.send(method, parameters, more=True)
                while wire.is_busy:
                    yield await wire.receive()
        except OSError as error:
            raise Unavailable(str(error)) from error

    # Deleting

    async def delete(
        self, *nodes: Node, expect: int | None = None, partial: bool = False, wait: bool = True,
    ) -> Job:
        """Deletes nodes with all that follows, in steps: the job when it has ended or needs an answer, or at
        once. `state` is `done`, `held` (`approve(job["plan"])`), `blocked`, `cancelled` or `running`."""
        return await self._begin(expect, partial, wait, nodes=[name(node) for node in nodes])

    async def delete_rows(
        self, collection: str, where: str, *, expect: int | None = None, partial: bool = False,
        wait: bool = True,
    ) -> Job:
        """The same for the rows of a collection for which an SQL expression holds."""
        return await self._begin(expect, partial, wait, collection=collection, where=where)

    async def _begin(
        self, expect: int | None, partial: bool, wait: bool, **subject: Any,
    ) -> Job:
        reply = await self.call("Delete", expect=expect, partial=partial, wait=wait, **subject)
        return cast(Job, reply["job"])

    async def jobs(self, after: int = 0) -> AsyncGenerator[Job, None]:
        """The jobs after a number, the oldest first."""
        async for reply in self.follow("Jobs", after=after):
            for job in reply["jobs"]:
                yield job

    async def cancel(self, job: int) -> Job:
        """Ends a job. What it has deleted is its batch, which `undo` takes."""
        return cast(Job, (await self.call("Cancel", job=job))["job"])

    async def erase(
        self, node: Node, expect: int | None = None, accept: Sequence[str] = (),
    ) -> Erasure:
        """Deletes a node with all that follows, so that nothing is left of it. Returns what became of it, with
        a report and its salt. `accept` are columns that were looked at, as "table.column"."""
        parameters: Reply = {"node": name(node), "accept": list(accept)}
        if expect is not None:
            parameters["expect"] = expect
        return cast(Erasure, (await self.call("Erase", **parameters))["erasure"])

    async def deleted(
        self, after: int | None = None, collection: str | None = None, values: bool = False,
    ) -> AsyncGenerator[DeletedNode, None]:
        """The nodes that went after a number, and then those that go, one by one. Whoever remembers the last
        number that he has done misses none, and does each once."""
        parameters: Reply = {"follow": True, "values": values}
        if after is not None:
            parameters["after"] = after
        if collection is not None:
            parameters["collection"] = collection
        async for reply in self.follow("Deleted", **parameters):
            for node in reply["deleted"]:
                yield node

    # What was deleted, and what must not be

    async def approve(self, plan: int) -> Receipt:
        """Approves a held plan, and returns its receipt."""
        return cast(Receipt, (await self.call("Approve", plan=plan))["receipt"])

    async def reject(self, plan: int) -> RejectedPlan:
        """Rejects a held plan: what it would have deleted stays."""
        return cast(RejectedPlan, await self.call("Reject", plan=plan))

    async def undo(self, what: int | Node) -> UndoReport:
        """Brings back what a batch deleted; or one node with what went because of it, and nothing else."""
        subject: Reply = {"batch": what} if isinstance(what, int) else {"node": name(what)}
        return cast(UndoReport, (await self.call("Undo", **subject))["undone"])

    async def protect(
        self, node: Node, reason: str, until: datetime.datetime | None = None,
    ) -> Protection:
        """Keeps a node, and all that its deletion would take along, from every deletion."""
        end = None if until is None else round(moment(until).timestamp() * 1000)
        reply = await self.call("Protect", node=name(node), reason=reason, until=end)
        return cast(Protection, reply["protection"])

    async def unprotect(self, node: Node) -> Protection:
        """Ends the protection of a node."""
        return cast(Protection, (await self.call("Unprotect", node=name(node)))["protection"])

    async def protections(self) -> list[Protection]:
        """The nodes that are protected themselves."""
        return cast("list[Protection]", (await self.call("Protections"))["protections"])

    @contextlib.asynccontextmanager
    async def lease(self, *nodes: Node, owner: str | None = None) -> AsyncIterator[None]:
        """Holds nodes until the block ends, or the process."""
        parameters: Reply = {"nodes": [name(node) for node in nodes]}
        if owner is not None:
            parameters["owner"] = owner
        replies = self.follow("Lease", **parameters)
        try:
            await replies.__anext__()
            yield
        finally:
            await replies.aclose()
