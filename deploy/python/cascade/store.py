"""The two classes for a store: one for threads, one for asyncio."""
from __future__ import annotations

import functools
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .methods import Methods
from .transport import Asyncio, Blocking, run

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec
    P = ParamSpec("P")
T = TypeVar("T")


class AsyncStore(Methods):
    """A store, and the daemon that serves it, for asyncio. Tasks may share it, and loops."""

    def __init__(
        self, path: str | os.PathLike[str], *, socket: str | None = None,
        spool: str | None = None, author: str | None = None,
    ) -> None:
        super().__init__(Asyncio(), path, socket=socket, spool=spool, author=author)


def _waits(
    method: Callable[Concatenate[Methods, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Store, P], T]:
    """The method, with its result in place of what one awaits."""
    @functools.wraps(method)
    def waiting(store: Store, /, *args: P.args, **named: P.kwargs) -> T:
        return run(method(store._methods, *args, **named))
    return waiting


def _yields(
    method: Callable[Concatenate[Methods, P], AsyncGenerator[T, None]],
) -> Callable[Concatenate[Store, P], Generator[T, None, None]]:
    """The method, for `for` in place of `async for`."""
    @functools.wraps(method)
    def yielding(store: Store, /, *args: P.args, **named: P.kwargs) -> Generator[T, None, None]:
        values = method(store._methods, *args, **named)
        try:
            while True:
                try:
                    value = run(values.__anext__())
                except StopAsyncIteration:
                    return
                yield value
        finally:
            run(values.aclose())
    return yielding


class _Block(Generic[T]):
    """A block of `async with` as one of `with`."""

    def __init__(self, block: AbstractAsyncContextManager[T]) -> None:
        self.block = block

    def __enter__(self) -> T:
        return run(self.block.__aenter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return run(self.block.__aexit__(kind, error, traceback))


def _encloses(
    method: Callable[Concatenate[Methods, P], AbstractAsyncContextManager[T]],
) -> Callable[Concatenate[Store, P], AbstractContextManager[T]]:
    """The method, for `with` in place of `async with`."""
    @functools.wraps(method)
    def enclosing(store: Store, /, *args: P.args, **named: P.kwargs) -> AbstractContextManager[T]:
        return _Block(method(store._methods, *args, **named))
    return enclosing


class Store:
    """A store, and the daemon that serves it. Threads may share it."""

    def __init__(
        self, path: str | os.PathLike[str], *, socket: str | None = None,
        spool: str | None = None, author: str | None = None,
    ) -> None:
        self._methods = Methods(Blocking(), path, socket=socket, spool=spool, author=author)

    transaction = _encloses(Methods.transaction)
    submit = _waits(Methods.submit)
    receipt = _waits(Methods.receipt)
    call = _waits(Methods.call)
    follow = _yields(Methods.follow)
    delete = _waits(Methods.delete)
    delete_rows = _waits(Methods.delete_rows)
    jobs = _yields(Methods.jobs)
    cancel = _waits(Methods.cancel)
    erase = _waits(Methods.erase)
    deleted = _yields(Methods.deleted)
    approve = _waits(Methods.approve)
    reject = _waits(Methods.reject)
    undo = _waits(Methods.undo)
    protect = _waits(Methods.protect)
    unprotect = _waits(Methods.unprotect)
    protections = _waits(Methods.protections)
    lease = _encloses(Methods.lease)

    @property
    def path(self) -> str:
        return self._methods.path

    @property
    def socket(self) -> str:
        return self._methods.socket

    @property
    def spool(self) -> str:
        return self._methods.spool

    @property
    def author(self) -> str | None:
        return self._methods.author
