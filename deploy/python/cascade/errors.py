"""Why a write has no effect, or is not known to have one."""
from __future__ import annotations

import json
from typing import Any

from .replies import Edge, Reason, Receipt


class WriteError(Exception):
    """A write has no effect, or is not known to have one."""


class Refused(WriteError):
    """Nothing took effect. Each of `reasons` has a code, a message, perhaps a node and an edge."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        self.reasons: list[Reason] = receipt.get("reasons", [])
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
    def edge(self) -> Edge:
        return next(r["edge"] for r in self.reasons if r["code"] == "deletesItself")


class Held(Refused):
    """The changes would delete so much that they wait for approval, as the plan `plan`."""

    @property
    def plan(self) -> int:
        return self.receipt["plan"]


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


def checked(receipt: Receipt) -> Receipt:
    """The receipt of changes that took effect. Of others, it raises the error."""
    if receipt["outcome"] == "held":
        raise Held(receipt)
    if receipt["outcome"] == "rejected":
        codes = {reason["code"] for reason in receipt["reasons"]}
        kinds = {"denied": Denied, "changed": Changed, "deletesItself": DeletesItself}
        raise next((kinds[code] for code in kinds if code in codes), Rejected)(receipt)
    return receipt
