"""How a change file gets to the daemon, and what became of it."""
from __future__ import annotations

import base64
import os
import time
from typing import cast

from .errors import CallError, Pending, Unavailable
from .replies import Receipt
from .wire import Reply, Wire, Wires

# One part of an upload. In base64, with the call around it, it is below the daemon's limit.
PART = 512 << 10


class ChangeFile:
    """A change file on its way."""

    def __init__(self, id: str, data: bytes, timeout: float) -> None:
        self.id, self.data = id, data
        self.deadline = time.monotonic() + timeout
        # Whether the daemon may have all of it.
        self.is_sent = False
        # What the daemon said last.
        self.waiting = ""

    def check(self, error: OSError) -> None:
        """Returns if the file should be sent again, because the connection broke."""
        if not self.is_sent:
            raise Unavailable(str(error)) from error
        if time.monotonic() >= self.deadline:
            raise Pending(self.id, self.waiting or str(error)) from error


async def send(wires: Wires, file: ChangeFile) -> Receipt:
    """Sends until there is a receipt: the daemon recognises a repetition by the id."""
    while True:
        try:
            async with wires.wire(file.deadline) as wire:
                return await _apply(wire, file)
        except CallError as error:
            raise await _failure(wires, file, error) from error
        except OSError as error:
            file.check(error)
        await wires.transport.sleep(0.02)


async def _failure(wires: Wires, file: ChangeFile, error: CallError) -> Pending | Unavailable:
    """What an error means for a file that the daemon may have in its queue nevertheless."""
    if file.is_sent:
        try:
            async with wires.wire() as wire:
                if (await wire.call("Receipt", {"id": file.id}))["state"] == "waiting":
                    return Pending(file.id, str(error))
        except (OSError, CallError):
            pass
    return Unavailable(str(error))


async def _apply(wire: Wire, file: ChangeFile) -> Receipt:
    parameters = {"name": f"{file.id}.json", **await _upload(wire, file)}
    file.is_sent = True
    await wire.send("Apply", parameters, more=True, deadline=file.deadline)
    return await _receipt(wire, file)


async def _upload(wire: Wire, file: ChangeFile) -> Reply:
    """What names the file in the call that applies it: a small one comes with the call."""
    starts = range(0, len(file.data), PART)
    parts = [base64.b64encode(file.data[at:at + PART]).decode() for at in starts]
    if len(parts) == 1:
        return {"data": parts[0]}
    upload = None
    for part in parts:
        parameters = {"upload": upload, "data": part}
        upload = (await wire.call("Upload", parameters, file.deadline))["upload"]
    return {"upload": upload}


async def _receipt(wire: Wire, file: ChangeFile) -> Receipt:
    """The receipt at the end of the replies."""
    while True:
        reply = await wire.receive(file.deadline)
        file.waiting = reply.get("waiting") or file.waiting
        if receipt := reply.get("receipt"):
            # A file that cannot be read has its name as its id.
            if receipt["id"] not in (file.id, f"{file.id}.json"):
                wire.close()
                raise ConnectionError(f"the receipt is of {receipt['id']}, and not of {file.id}")
            return cast(Receipt, receipt)
        if not wire.is_busy:
            raise ConnectionError(f"the daemon does not know {file.id}")


async def enqueue(wires: Wires, file: ChangeFile, spool: str) -> Receipt:
    """Puts the file into the spool, and waits until the daemon has taken it from there."""
    try:
        await wires.transport.work(lambda: _write(file, spool))
    except OSError as error:
        raise Unavailable(str(error)) from error
    try:
        async with wires.wire(file.deadline) as wire:
            parameters = {"id": file.id, "wait": True}
            await wire.send("Receipt", parameters, more=True, deadline=file.deadline)
            return await _receipt(wire, file)
    except TimeoutError as error:
        why = file.waiting or "the daemon did not answer in time"
        raise Pending(file.id, why) from error
    except (OSError, CallError) as error:
        raise Unavailable(str(error), is_queued=True) from error


def _write(file: ChangeFile, spool: str) -> None:
    """When this returns, the file is on the disk."""
    temporary = f"{spool}/tmp/{file.id}.json"
    with open(temporary, "wb") as out:
        out.write(file.data)
        out.flush()
        os.fsync(out.fileno())
    os.rename(temporary, f"{spool}/new/{file.id}.json")
    queue = os.open(f"{spool}/new", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(queue)
    finally:
        os.close(queue)
