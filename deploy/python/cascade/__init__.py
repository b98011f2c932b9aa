"""Writes to a store of cascaded, and asks the daemon. Only the standard library is used.

    store = cascade.Store("/srv/music.db", author="music/1.0")
    with store.transaction() as tx:
        tx.put("albums", album, {"title": "Pastel Blues", "artist": nina})
        tx.delete("songs", old)
    print(tx.receipt["deletedCount"])

AsyncStore has the same methods for asyncio, to be used with `await`, `async with` and `async for`.

Keys and values may be UUIDs and times, which are written as text: a UUID in small letters, a datetime, which
must have a time zone, in UTC (2026-11-30T15:33:03.000000+00:00). In a value of a column, bytes and numbers
that are not finite are written as what they are; as a key, bytes are a blob of SQLite. What a receipt or
another reply tells is JSON: there, each is a text. Reading needs no module: open the database with sqlite3.
"""
from . import replies
from .errors import (
    CallError, Changed, Denied, DeletesItself, Held, Pending, Refused, Rejected, Unavailable, WriteError)
from .store import AsyncStore, Store
from .transaction import Transaction
from .values import Key, Node, uuid7

__all__ = [
    "AsyncStore", "CallError", "Changed", "Denied", "DeletesItself", "Held", "Key", "Node", "Pending",
    "Refused", "Rejected", "Store", "Transaction", "Unavailable", "WriteError", "replies", "uuid7",
]
