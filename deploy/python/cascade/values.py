"""Keys and values in the forms that a change file has for them."""
from __future__ import annotations

import base64
import datetime
import json
import math
import secrets
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Union

KeyPart = Union[str, int, uuid.UUID, datetime.date, bytes]
Key = Union[KeyPart, Sequence[KeyPart]]
Node = tuple[str, Key]


def uuid7() -> str:
    """A new key: a UUID that begins with the time."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * 4096 // 1_000_000
    number = milliseconds << 80 | 7 << 76 | fraction << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=number))


def moment(value: datetime.datetime) -> datetime.datetime:
    """A time in UTC. A time without a zone may be any, and is refused."""
    if value.utcoffset() is None:
        raise ValueError(f"{value!r} has no time zone")
    return value.astimezone(datetime.timezone.utc)


def _text(value: Any) -> Any:
    """Times and UUIDs as text; what else there is stays."""
    if isinstance(value, datetime.datetime):
        # Of one length, so that the order of texts is that of times.
        return moment(value).isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else value


def key(value: Any) -> Any:
    """A key. Bytes are written as SQLite writes them."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"x'{bytes(value).hex().upper()}'"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [key(part) for part in value]
    return _text(value)


def node(value: Node) -> list[Any]:
    collection, its_key = value
    return [collection, key(its_key)]


def name(value: Node) -> str:
    """A node in the parameters of a call."""
    return json.dumps(node(value))


def column(value: Any) -> Any:
    """The whole value of a column, or a member of an object."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$blob": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$real": "NaN" if math.isnan(value) else "-Infinity" if value < 0 else "Infinity"}
    return _within(value)


def _within(value: Any) -> Any:
    """JSON in which there may be times and UUIDs."""
    if isinstance(value, Mapping):
        return {name: _within(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_within(element) for element in value]
    return _text(value)


def columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: column(value) for name, value in values.items()}
