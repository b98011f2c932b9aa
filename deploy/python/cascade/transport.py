"""The two ways to wait: in the thread that calls, or in the loop of asyncio.

What uses them is written once, with `async` and `await`. Over `Blocking` nothing ever suspends: then the
first step of a coroutine goes to its end, and `run` needs no loop.
"""
from __future__ import annotations

import asyncio
import contextlib
import socket as sockets
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar, cast

T = TypeVar("T")

# The daemon gives a user 64 uploads and 256 connections.
WRITES_AT_ONCE = 32


class Transport(Protocol):
    """How to wait. Past a deadline, a moment of time.monotonic(), waiting ends with TimeoutError."""

    async def connect(self, socket: sockets.socket, path: str, deadline: float | None) -> None: ...
    async def send(self, socket: sockets.socket, data: bytes, deadline: float | None) -> None: ...
    async def receive(self, socket: sockets.socket, deadline: float | None) -> bytes: ...
    async def sleep(self, seconds: float) -> None: ...

    async def work(self, function: Callable[[], None]) -> None:
        """Runs what waits for the disk."""

    def turn(self) -> AbstractAsyncContextManager[Any]:
        """Waits until a write may begin, and lets the next one begin afterwards."""


def run(awaitable: Awaitable[T]) -> T:
    """The result of what does not suspend."""
    try:
        awaitable.__await__().send(None)
    except StopIteration as end:
        return cast(T, end.value)
    raise AssertionError(f"{awaitable} suspends")


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.001, deadline - time.monotonic())


@contextlib.contextmanager
def _timed(socket: sockets.socket, deadline: float | None) -> Iterator[None]:
    socket.settimeout(_left(deadline))
    try:
        yield
    except sockets.timeout as error:  # another type than TimeoutError before Python 3.10
        raise TimeoutError("timed out") from error


class Blocking:
    """Waits in the thread that calls."""

    async def connect(self, socket: sockets.socket, path: str, deadline: float | None) -> None:
        with _timed(socket, deadline):
            socket.connect(path)

    async def send(self, socket: sockets.socket, data: bytes, deadline: float | None) -> None:
        with _timed(socket, deadline):
            socket.sendall(data)

    async def receive(self, socket: sockets.socket, deadline: float | None) -> bytes:
        with _timed(socket, deadline):
            return socket.recv(1 << 16)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def work(self, function: Callable[[], None]) -> None:
        function()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        # A program has as many writes at once as it has threads for them.
        yield


class Asyncio:
    """Waits in the loop that runs, and lets other tasks go on. Sockets belong to no loop."""

    def __init__(self) -> None:
        self.turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary())

    async def connect(self, socket: sockets.socket, path: str, deadline: float | None) -> None:
        socket.setblocking(False)
        while True:
            try:
                return socket.connect(path)
            except BlockingIOError:  # Too many wait to be connected. Nothing tells when they are fewer.
                await _by(deadline, asyncio.sleep(0.01))

    async def send(self, socket: sockets.socket, data: bytes, deadline: float | None) -> None:
        await _by(deadline, asyncio.get_running_loop().sock_sendall(socket, data))

    async def receive(self, socket: sockets.socket, deadline: float | None) -> bytes:
        return await _by(deadline, asyncio.get_running_loop().sock_recv(socket, 1 << 16))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def work(self, function: Callable[[], None]) -> None:
        await asyncio.to_thread(function)

    def turn(self) -> AbstractAsyncContextManager[Any]:
        loop = asyncio.get_running_loop()
        return self.turns.setdefault(loop, asyncio.Semaphore(WRITES_AT_ONCE))


async def _by(deadline: float | None, awaitable: Awaitable[T]) -> T:
    if deadline is None:
        return await awaitable
    try:
        return await asyncio.wait_for(awaitable, _left(deadline))
    except asyncio.TimeoutError as error:  # another type than TimeoutError before Python 3.11
        raise TimeoutError("timed out") from error
