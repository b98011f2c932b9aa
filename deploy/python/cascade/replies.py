"""What the daemon replies: io.cascaded.Control.varlink describes each member. A node is a list of its collection and
its key. A member has the type that it has where it applies; elsewhere it is None, or is not there.
"""
from __future__ import annotations

from typing import Any, TypedDict

Edge = TypedDict("Edge", {
    "name": str, "from": list[Any], "to": Any, "rules": list[str], "origin": str,
    "kind": str, "denies": bool,
}, total=False)


class Reason(TypedDict, total=False):
    code: str
    message: str
    node: list[Any]
    edge: Edge
    path: str
    line: int
    column: int


class Receipt(TypedDict, total=False):
    id: str
    outcome: str
    batch: int
    deleted: list[list[Any]]
    deletedCount: int
    deletedOwn: list[list[Any]]
    edgesAdded: int
    edgesRemoved: int
    notices: int
    passedOver: int
    reasons: list[Reason]
    plan: int
    restored: int
    left: list[Left]
    leftCount: int


class ReceiptState(TypedDict, total=False):
    state: str
    receipt: Receipt
    waiting: str


class JobSubject(TypedDict, total=False):
    nodes: list[list[Any]]
    collection: str
    where: str
    expires: bool
    softDelete: bool


class Job(TypedDict, total=False):
    job: int
    state: str
    deletedCount: int
    of: int
    byCollection: dict[str, int]
    batch: int
    plan: int
    blocked: list[Reason]
    subject: JobSubject
    author: str
    at: int


class Left(TypedDict, total=False):
    node: Any
    what: str
    reason: str


class UndoReport(TypedDict, total=False):
    batch: int
    restored: int
    byCollection: dict[str, int]
    edges: int
    references: int
    rows: int
    files: int
    left: list[Left]
    leftCount: int
    dangling: list[Edge]
    danglingCount: int
    remarks: list[str]


class RejectedPlan(TypedDict, total=False):
    plan: int
    restored: int
    givenUp: int


class Protection(TypedDict, total=False):
    node: list[Any]
    reason: str
    by: str
    since: int
    until: int


class DeletedNode(TypedDict, total=False):
    deleted: int
    node: list[Any]
    at: int
    batch: int
    cause: str
    author: str
    kept: bool
    value: Any


class ColumnEvidence(TypedDict, total=False):
    table: str
    columns: list[str]
    to: str
    evidence: str


class Erasure(TypedDict, total=False):
    job: int
    state: str
    deletedCount: int
    byCollection: dict[str, int]
    plan: int
    blocked: list[Reason]
    evidence: list[ColumnEvidence]
    files: list[str]
    traces: list[str]
    report: dict[str, Any]
    salt: str
