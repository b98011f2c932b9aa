#!/usr/bin/env python3
"""Introspects io.cascaded.Control with the varlink package of PyPI, and calls every method.

usage: varlink_client.py SOCKET STORE

Prints a line for each method: its name, and how many replies there were, or the name of the error.
"""
import base64
import sys

import varlink

socket, store = sys.argv[1:]
NAME = "io.cascaded.Control"

upload = None


def changes(text):
    """A part of a change file, whose name the next call needs."""
    return {"store": store, "data": base64.b64encode(text.encode()).decode()}


# What each method is called with; those that answer several times, with `_more`.
CALLS = {
    "Status": {},
    "Upload": changes('{"id": "foreign", "changes": [{"put": ["a", "1"]}]}'),
    "Apply": {"store": store, "name": "foreign.json"},
    "Receipt": {"store": store, "id": "foreign", "wait": True},
    "Model": {"store": store},
    "Node": {"store": store, "node": "a/1"},
    "Nodes": {"store": store, "collection": "a", "_more": True},
    "Edges": {"store": store, "from": "a/1", "_more": True},
    "CountEdges": {"store": store, "name": "e"},
    "Fetch": {"store": store, "node": "a/1", "name": "none"},
    "Plan": {"store": store, "nodes": ["a/1"]},
    "HeldPlan": {"store": store, "plan": 999},
    "Why": {"store": store, "node": "a/1"},
    "Graph": {"store": store, "node": "a/1", "depth": 1},
    "Lease": {"store": store, "nodes": ["a/2"], "seconds": 60},
    "Leases": {"store": store},
    "Release": {"store": store, "nodes": ["a/2"]},
    "Sweep": {"store": store, "kinds": ["all"], "_more": True},
    "Batches": {"store": store, "_more": True},
    "Undo": {"store": store, "batch": 999},
    "Delete": {"store": store, "nodes": ["a/999"]},
    "Jobs": {"store": store, "_more": True},
    "Cancel": {"store": store, "job": 999},
    "Erase": {"store": store, "node": "a/999", "dryRun": True},
    "Deleted": {"store": store, "_more": True},
    "Protect": {"store": store, "node": "a/1", "reason": "a test"},
    "Protections": {"store": store},
    "Unprotect": {"store": store, "node": "a/1"},
    "Notices": {"store": store, "after": 0, "_more": True},
    "Acknowledge": {"store": store, "notice": 0},
    "Spool": {"store": store},
    "Retry": {"store": store, "file": "none.json"},
    "Drop": {"store": store, "file": "none.json"},
    "Approve": {"store": store, "plan": 999},
    "Reject": {"store": store, "plan": 999},
    "TakeRoots": {"store": store},
    "Check": {"store": store},
    "EstimateIndexes": {"store": store},
    "BeginMigration": {"store": store},
    "EndMigration": {"store": store},
    "Pause": {"store": store},
    "Resume": {"store": store},
    "Reload": {},
    "Events": {"after": 0, "_more": True},
    "Metrics": {},
    "Detach": {"store": store},
    "Attach": {"store": store},
}


def call(control, name, parameters):
    """How many replies, or the error's name."""
    global upload
    if name == "Apply":
        parameters = parameters | {"upload": upload}
    try:
        answer = getattr(control, name)(**parameters)
        replies = list(answer) if parameters.get("_more") else [answer]
    except varlink.VarlinkError as error:
        return error.error()
    if name == "Upload":
        upload = replies[0]["upload"]
    return len(replies)


client = varlink.Client.new_with_address(f"unix:{socket}")
description = client.get_interface(NAME).get_description()
members = varlink.scanner.Interface(description).members
methods = {name for name, member in members.items() if type(member).__name__ == "_Method"}
errors = {f"{NAME}.{name}" for name, member in members.items() if type(member).__name__ == "_Error"}
if methods != set(CALLS):
    sys.exit(f"not called, or not described: {methods ^ set(CALLS)}")

with client.open(NAME) as control:
    for name, parameters in CALLS.items():
        result = call(control, name, parameters)
        if isinstance(result, str) and result not in errors:
            sys.exit(f"{name}: {result} is not described")
        print(name, result)
