"""Keys and values in the forms that a change file has for them."""
from __future__ import annotations

import base64
import json
import math
import secrets
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Union

KeyPart = Union[str, int]
Key = Union[KeyPart, Sequence[KeyPart]]
Node = tuple[str, Key]


def uuid7() -> str:
    """A new key: a UUID that begins with the time."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = rest * 4096 // 1_000_000
    number = milliseconds << 80 | 7 << 76 | fraction << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=number))


def key(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


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
    return value


def columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: column(value) for name, value in values.items()}
