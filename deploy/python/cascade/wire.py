"""Connections to the daemon."""
from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator
from typing import Any

from .errors import CallError
from .transport import Transport

Reply = dict[str, Any]


class Wire:
    """A connection, on which one call is made at a time."""

    def __init__(self, transport: Transport, store: str | None) -> None:
        self.transport, self.store = transport, store
        self.socket = socket.socket(socket.AF_UNIX)
        self.rest = b""
        # From a call to its last reply.
        self.is_busy = False

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def is_open(self) -> bool:
        """Whether the daemon has not closed it since the last call."""
        self.socket.setblocking(False)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False  # Its end, or what nobody asked for.

    async def send(
        self, method: str, parameters: Reply, *, more: bool = False, deadline: float | None = None,
    ) -> None:
        if self.store is not None:
            parameters = {**parameters, "store": self.store}
        call: Reply = {"method": f"io.cascaded.Control.{method}", "parameters": parameters}
        if more:
            call["more"] = True
        self.is_busy = True
        await self.transport.send(self.socket, json.dumps(call).encode() + b"\0", deadline)

    async def receive(self, deadline: float | None = None) -> Reply:
        """The parameters of a reply. `is_busy` tells whether more replies follow."""
        reply = json.loads(await self._frame(deadline))
        self.is_busy = bool(reply.get("continues"))
        if "error" in reply:
            raise CallError(reply["error"], reply.get("parameters") or {})
        return reply.get("parameters") or {}

    async def _frame(self, deadline: float | None) -> bytes:
        parts = [self.rest]
        while b"\0" not in parts[-1]:
            part = await self.transport.receive(self.socket, deadline)
            if not part:
                raise ConnectionError("the daemon closed the connection")
            parts.append(part)
        frame, _, self.rest = b"".join(parts).partition(b"\0")
        return frame

    async def call(self, method: str, parameters: Reply, deadline: float | None = None) -> Reply:
        await self.send(method, parameters, deadline=deadline)
        return await self.receive(deadline)


class Wires:
    """The connections to a daemon. Each call has one of its own."""

    def __init__(self, transport: Transport, path: str, store: str | None) -> None:
        self.transport, self.path, self.store = transport, path, store
        self.process = os.getpid()
        # Those that no call uses now. Threads share the list: each of its operations is one step.
        self.idle: list[Wire] = []

    async def connect(self, deadline: float | None = None) -> Wire:
        wire = Wire(self.transport, self.store)
        try:
            await self.transport.connect(wire.socket, self.path, deadline)
        except BaseException as error:
            wire.close()
            if isinstance(error, OSError):
                error.filename = self.path
            raise
        return wire

    async def _take(self, deadline: float | None) -> Wire:
        if self.process != os.getpid():
            # Those of the parent process are its own.
            self.idle, self.process = [], os.getpid()
        while True:
            try:
                wire = self.idle.pop()
            except IndexError:
                break
            if wire.is_open():
                return wire
            wire.close()
        return await self.connect(deadline)

    @contextlib.asynccontextmanager
    async def wire(self, deadline: float | None = None) -> AsyncIterator[Wire]:
        """A connection for calls. It is kept if they were answered to the end."""
        wire = await self._take(deadline)
        try:
            yield wire
        finally:
            if wire.is_busy:
                wire.close()
            else:
                self.idle.append(wire)
