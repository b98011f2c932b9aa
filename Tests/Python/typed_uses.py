"""Is not run, but checked by mypy --strict. A line with a mistake says which one mypy has to find."""
import datetime
import uuid

import cascade

NINA = ("artists", uuid.uuid4())
NOW = datetime.datetime.now(datetime.timezone.utc)


def in_threads(store: cascade.Store) -> None:
    with store.transaction(spool=True) as tx:
        tx.put("visits", (NINA[1], NOW), {"data": b"x"}, edges=[{"name": "of", "to": NINA}])
        tx.put("visits")  # type: ignore[call-arg]
        tx.put("visits", 1.5)  # type: ignore[arg-type]
    with store.lease(NINA, ("artists", 7), owner="upload"):
        job = store.delete(NINA, expect=3)
        print(job["state"] == "held", job["deletedcount"])  # type: ignore[misc]
    store.delete(NINA, expected=3)  # type: ignore[call-arg]
    store.protect(NINA, "case 14", until="2100")  # type: ignore[arg-type]
    for gone in store.deleted(after=job["job"]):
        print(gone["node"], store.undo(gone["batch"])["restored"] + 1)
    store.close_all()  # type: ignore[attr-defined]


async def in_tasks(store: cascade.AsyncStore) -> None:
    async with store.transaction(timeout=1) as tx:
        tx.delete("artists", 7, if_unchanged={"seen": NOW})
    receipt = await store.submit(tx)
    async with store.lease(NINA):
        print(receipt["reasons"][0]["edge"]["from"], tx.receipt["deletedCount"] + 1)
        await store.undo(receipt["batch"])
    async for gone in store.deleted():
        print(gone["node"])
    store.protections()[0]  # type: ignore[index]
