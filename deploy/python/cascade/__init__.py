"""Writes to a store of cascaded, and asks the daemon. Only the standard library is used.

    store = cascade.Store("/srv/music.db", author="music/1.0")
    with store.transaction() as tx:
        tx.put("albums", album, {"title": "Pastel Blues", "artist": nina})
        tx.delete("songs", old)
    print(tx.receipt["deletedCount"])

AsyncStore has the same methods for asyncio, to be used with `await`, `async with` and `async for`.

In a value of a column, bytes and numbers that are not finite are written as what they are. Reading needs no
module: open the database with sqlite3.
"""
from .errors import (
    CallError, Changed, Denied, DeletesItself, Held, Pending, Refused, Rejected, Unavailable, WriteError)
from .store import AsyncStore, Store
from .transaction import Transaction
from .values import Key, Node, uuid7

__all__ = [
    "AsyncStore", "CallError", "Changed", "Denied", "DeletesItself", "Held", "Key", "Node", "Pending",
    "Refused", "Rejected", "Store", "Transaction", "Unavailable", "WriteError", "uuid7",
]
