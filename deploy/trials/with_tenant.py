"""A tenant of 150,000 rows behind foreign keys that cascade over three tables, and one that restricts from
a table that the model lacks. Denied first, with nothing gone; then in steps beside a writer, with a kill
half-way; and an undo brings back every row."""
import contextlib
import json
import signal
import sqlite3
import subprocess
import threading
import time

from fixture import BIN, Store, is_sound, wait

PROJECTS, TASKS = 500, 150_000
MODEL = {
    "collections": {name: {"table": name, "key": "id"} for name in ("tenant", "project", "task")},
    "relationships": [
        {"name": "tenant", "from": "project", "to": "tenant", "column": "tenant",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "project", "from": "task", "to": "project", "column": "project",
         "rules": ["deleteSourceIfDestinationDeleted"]}]}
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "


def make(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(f"""
            PRAGMA journal_mode = WAL;
            CREATE TABLE tenant(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE project(id INTEGER PRIMARY KEY, tenant REFERENCES tenant ON DELETE CASCADE);
            CREATE TABLE task(id INTEGER PRIMARY KEY, project REFERENCES project ON DELETE CASCADE,
              title TEXT);
            CREATE TABLE invoice(id INTEGER PRIMARY KEY, tenant REFERENCES tenant);
            CREATE INDEX project_tenant ON project(tenant);
            CREATE INDEX task_project ON task(project);
            CREATE INDEX invoice_tenant ON invoice(tenant);
            INSERT INTO tenant VALUES(1, 'Initech'), (2, 'Hooli');
            INSERT INTO project {NUMBERS.format(PROJECTS + 20)} SELECT i, 1 + (i > {PROJECTS}) FROM n;
            INSERT INTO task {NUMBERS.format(TASKS)} SELECT i, 1 + i % {PROJECTS}, 'task ' || i FROM n;
            INSERT INTO invoice VALUES(1, 1);""")


class Writer(threading.Thread):
    """Another tenant's program: a small commit after the other, with foreign keys on."""

    def __init__(self, path):
        super().__init__()
        self.path, self.times, self.ends = path, [], threading.Event()

    def run(self):
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as db:
            db.execute("PRAGMA foreign_keys = ON")
            while not self.ends.is_set():
                start = time.monotonic()
                with db:
                    db.execute("INSERT INTO task(project, title) VALUES(?, 'new')", (PROJECTS + 1,))
                self.times.append(time.monotonic() - start)
                time.sleep(0.005)

    def stop(self):
        self.ends.set()
        self.join()
        times = sorted(self.times)
        return times[len(times) * 99 // 100] * 1000, times[-1] * 1000, len(times)


def half_way(store):
    return store.ask("jobs")[-1]["deletedCount"] > TASKS // 2


make("service.db")
store = Store("service.db", MODEL)
with store:
    before = store.dump()
    total = TASKS + PROJECTS + 1
    refused = store.ask("delete", "tenant/1", "--expect", total, status=4)[0]
    assert "invoice" in json.dumps(refused["blocked"]), refused
    assert store.dump() == before, "something went although the deletion was denied"
    with contextlib.closing(sqlite3.connect("service.db")) as db, db:
        db.execute("DELETE FROM invoice")
    before = store.dump()
    writer = Writer("service.db")
    writer.start()
    start = time.monotonic()
    client = subprocess.Popen(
        [BIN / "cascadectl", "--quiet", "--store", store.path, "delete", "tenant/1",
         "--expect", str(total), "--no-wait"])
    assert client.wait(30) == 0
    wait(lambda: half_way(store), "half of it has gone")
    store.daemon.send_signal(signal.SIGKILL)
    store.daemon.wait()
    with contextlib.closing(sqlite3.connect("service.db", timeout=30)) as db:
        left = db.execute(f"SELECT count(*) FROM task WHERE project <= {PROJECTS}").fetchone()[0]
        assert 0 < left < TASKS, f"{left} of {TASKS} tasks are left: it was not killed half-way"
    store.start()
    wait(lambda: store.ask("jobs")[-1]["state"] == "done", "the job has ended", 120)
    took, job = time.monotonic() - start, store.ask("jobs")[-1]
    p99, longest, commits = writer.stop()
    assert job["deletedCount"] == total, job
    with contextlib.closing(sqlite3.connect("service.db")) as db:
        left = db.execute("SELECT (SELECT count(*) FROM project WHERE tenant = 1), "
                          f"(SELECT count(*) FROM task WHERE project <= {PROJECTS})").fetchone()
        assert left == (0, 0), left
        db.execute(f"DELETE FROM task WHERE project = {PROJECTS + 1}")
        db.commit()
    undone = store.ask("undo", job["batch"])[0]
    assert undone["restored"] == total and undone["leftCount"] == 0, undone
    assert store.dump() == before, "not every row is back as it was"
    store.detach()
assert is_sound("service.db")
print(f"{total:,} rows in {took:.1f} s with a kill half-way; a writer beside it: {commits} commits, "
      f"p99 {p99:.1f} ms, at most {longest:.0f} ms")
