"""The cases that every client runs, by both classes. Tests/Conformance/README.md describes them."""
import asyncio
import contextlib
import inspect
import json
import time
import unittest

from support import ROOT, StoreTests, cascade, contains


def cases(name):
    return json.loads((ROOT / "Tests/Conformance" / name).read_text(encoding="utf-8"))


def name_of(error):
    """The name that the cases have for an error."""
    if isinstance(error, cascade.Unavailable):
        return "queued" if error.is_queued else "unavailable"
    name = type(error).__name__
    return name[0].lower() + name[1:]


async def result(value):
    """What a method of either class returns."""
    return await value if inspect.isawaitable(value) else value


async def first(count, values):
    """So many values of what a method of either class yields; all of them without a count."""
    found = []
    if inspect.isasyncgen(values):
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(values.aclose)
            while len(found) != count:
                try:
                    found.append(await values.__anext__())
                except StopAsyncIteration:
                    break
        return found
    with contextlib.closing(values):
        while len(found) != count and (value := next(values, None)) is not None:
            found.append(value)
    return found


class Session:
    """Runs the steps of a case. A step is the method with the name of its first member."""

    def __init__(self, test, store):
        self.test, self.store = test, store
        self.writes, self.results, self.leases = {}, {}, {}

    async def run(self, steps):
        for step in steps:
            end = time.monotonic() + 10
            while True:
                value, error = await self.outcome(step)
                is_right = error == step.get("error") and contains(value, step.get("gives", value))
                if is_right or not step.get("eventually") or time.monotonic() > end:
                    break
                await asyncio.sleep(0.02)
            self.test.assertTrue(is_right, f"{step}\n{error}: {value}")
            self.results[step.get("as")] = value

    async def outcome(self, step):
        try:
            return await getattr(self, next(iter(step)))(step), None
        except cascade.Refused as error:
            return error.receipt, name_of(error)
        except cascade.WriteError as error:
            return None, name_of(error)

    # Writes

    async def write(self, step):
        transaction = cascade.Transaction()
        transaction.changes = list(step["write"])
        if "large" in step:
            transaction.put("notes", "large", {"text": "x" * step["large"]})
        self.writes[step.get("as")] = transaction
        return await self.submit(transaction, step)

    async def again(self, step):
        return await self.submit(self.writes[step["again"]], step)

    async def submit(self, transaction, step):
        return await result(self.store.submit(
            transaction, spool=step.get("by") == "spool", timeout=step.get("timeout", 30)))

    async def receipt(self, step):
        id = self.writes[step["receipt"]].id
        return await result(self.store.receipt(id, wait=step.get("wait", False)))

    # Deletions

    async def delete(self, step):
        nodes = [tuple(node) for node in step["delete"]]
        return await result(self.store.delete(*nodes, **self.options(step)))

    async def deleteRows(self, step):
        return await result(self.store.delete_rows(
            step["deleteRows"], step["where"], **self.options(step)))

    def options(self, step):
        return {name: step[name] for name in ("expect", "partial", "wait") if name in step}

    async def jobs(self, step):
        after = self.results[step["jobs"]]["job"] if step["jobs"] else 0
        return await first(None, self.store.jobs(after))

    async def cancel(self, step):
        return await result(self.store.cancel(self.results[step["cancel"]]["job"]))

    async def deleted(self, step):
        return await first(step["deleted"], self.store.deleted(after=0))

    # Answers

    async def approve(self, step):
        return await result(self.store.approve(self.results[step["approve"]]["plan"]))

    async def reject(self, step):
        return await result(self.store.reject(self.results[step["reject"]]["plan"]))

    async def undo(self, step):
        return await result(self.store.undo(self.results[step["undo"]]["batch"]))

    async def undoNode(self, step):
        return await result(self.store.undo(tuple(step["undoNode"])))

    async def protect(self, step):
        return await result(self.store.protect(step["protect"], step["reason"]))

    async def unprotect(self, step):
        return await result(self.store.unprotect(step["unprotect"]))

    # Leases, and anything else

    async def lease(self, step):
        lease = self.store.lease(*step["lease"], owner=step["owner"])
        stack = self.leases[step["as"]] = contextlib.AsyncExitStack()
        if hasattr(lease, "__aenter__"):
            await stack.enter_async_context(lease)
        else:
            stack.enter_context(lease)

    async def endLease(self, step):
        await self.leases[step["endLease"]].aclose()

    async def call(self, step):
        return await result(self.store.call(step["call"], **step.get("with", {})))

    async def sql(self, step):
        return [list(row) for row in self.test.rows(step["sql"])]

    async def daemon(self, step):
        {"stop": self.test.daemon.end, "start": self.test.daemon.start}[step["daemon"]]()


class ConformanceTests(StoreTests):
    def setUp(self):
        pass

    def each(self, name, run):
        for kind in [cascade.Store, cascade.AsyncStore]:
            for case in cases(name):
                with self.subTest(case["name"], kind=kind.__name__):
                    self.serve("; ".join(case.get("schema", [])), json.dumps(case.get("model", {})))
                    asyncio.run(run(case, kind(self.daemon.path, author="python")))
                    self.doCleanups()

    def test_single_writes(self):
        async def run(case, store):
            last = {"receipt": "gives"}
            steps = [{"write": changes} for changes in case.get("before", [])]
            write = {"write": case["changes"], "as": "last"}
            steps += [write, {"again": "last"}] if case.get("repeat") else [write]
            steps[-1].update({last.get(name, name): case[name]
                              for name in ("receipt", "error") if name in case})
            await Session(self, store).run(steps)

        self.each("cases.json", run)

    def test_sessions(self):
        async def run(case, store):
            await Session(self, store).run(case["steps"])

        self.each("sessions.json", run)


if __name__ == "__main__":
    unittest.main()
