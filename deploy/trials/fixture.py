"""A database of an application's, with the daemon attached, and what is asserted of the two.

Each trial runs in an empty directory of its own. $BIN is the directory with the binaries.
"""
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time

import definition

BIN = pathlib.Path(os.environ["BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES, FOREIGN = ROOT / "deploy/guides", ROOT / "Tests/Foreign"


def wait(condition, what, limit=30):
    end = time.monotonic() + limit
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)
    return found


def text(data):
    return data.decode("utf-8", "surrogateescape")


def add_collations(db):
    """Those that only an application has: Anki's."""
    db.create_collation("unicase", lambda one, other: (one > other) - (one < other))


@contextlib.contextmanager
def reading(database):
    with contextlib.closing(sqlite3.connect(
            f"{pathlib.Path(database).resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as db:
        db.text_factory = text
        add_collations(db)
        yield db


def schema(database):
    """The schema without what is Cascade's, and the numbers that applications write beside it."""
    with reading(database) as db:
        numbers = [db.execute(f"PRAGMA {name}").fetchone()
                   for name in ("user_version", "application_id", "encoding", "auto_vacuum")]
        return numbers + db.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'cascade_*' "
            "AND tbl_name NOT GLOB 'cascade_*' ORDER BY type, name").fetchall()


def cascades(database):
    with reading(database) as db:
        return db.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'cascade_*'").fetchall()


def dump(database, ours=False):
    """The rows of the application's ordinary tables, or also of `ours`, in one order."""
    with reading(database) as db:
        db.execute("BEGIN")  # one snapshot
        names = [row[1] for row in db.execute("PRAGMA main.table_list") if row[2] == "table"]
        db.row_factory = sqlite3.Row
        return {name: sorted(map(dict, db.execute(f'SELECT * FROM "{name}"')), key=repr)
                for name in names
                if ours or not name.startswith(("cascade_", "sqlite_"))}


def assert_same(found, wanted, what):
    """Compares two dumps. Values of different types differ: 1 is not 1.0."""
    for name in sorted(found.keys() | wanted.keys()):
        is_there, is_due = ([repr(row) for row in part.get(name, [])] for part in (found, wanted))
        more, fewer = set(is_there) - set(is_due), set(is_due) - set(is_there)
        assert sorted(is_there) == sorted(is_due), (
            f"{what}: {name} has {len(is_there)} rows, {len(is_due)} were expected\n"
            + "\n".join([*(f"+ {row}" for row in sorted(more)[:5]),
                         *(f"- {row}" for row in sorted(fewer)[:5])]))


def guide_lines(guide, language, word):
    """The lines of code that a guide prints, with this word in them."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (GUIDES / guide).read_text(), re.DOTALL)
    return next(block for block in blocks if word in block)


def suggest(database):
    """The model that cascadectl suggests, as Python values."""
    command = [BIN / "cascadectl", "suggest", database]
    model = re.sub(r"^ *//.*", "", subprocess.check_output(command, text=True), flags=re.MULTILINE)
    model = re.sub(r"(?<=[{, ])(\w+): ", r'"\1": ', model)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", model))


class Store:
    """Serves a database while the block runs, by a model that sweeps only when it is asked to."""

    def __init__(self, database, model, unmodelled=(), sweeps=None):
        self.path = pathlib.Path(database).resolve()
        self.model, self.sweeps = model, {} if sweeps is None else sweeps
        self.unmodelled = unmodelled  # tables, and TABLE.COLUMN, that others write meanwhile
        self.log = self.path.with_name("cascaded.log")
        self.schema = schema(self.path)
        self.met = 0  # how often an application could not begin because of a turn

    def __enter__(self):
        self.write_model()
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()
        if not error[0]:
            self.check_log()

    def check_log(self):
        """No errors, but that an application was quicker to lock its database for itself."""
        for line in self.log.read_text().splitlines():
            is_quicker = self.model.get("exclusive") and "database is locked" in line
            assert is_quicker or "error" not in line.lower(), f"the daemon says: {line}"

    def write_model(self):
        sweeps = {} if self.sweeps == "default" else {"sweeps": self.sweeps}
        path = self.path.with_name("model.json")
        path.write_text(json.dumps({**self.model, **sweeps}))
        self.arguments = ["--model", path, self.path]

    def start(self):
        with self.log.open("a") as log:
            self.daemon = subprocess.Popen([BIN / "cascaded", *self.arguments], stderr=log)
        wait(lambda: self.state() in ("ok", "held"), "the store is served")

    def stop(self):
        self.daemon.terminate()
        assert self.daemon.wait(30) == 0, "the daemon ends in disorder"

    def state(self):
        assert self.daemon.poll() is None, f"the daemon ended:\n{self.log.read_text()}"
        return self.status().get("state")

    def status(self):
        done = self.command("status")
        return json.loads(done.stdout)["stores"][0] if done.returncode == 0 else {}

    def command(self, *arguments):
        return subprocess.run([BIN / "cascadectl", "--json", "--store", self.path, *arguments],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(self, *arguments, status=0):
        """The lines that a command prints, as values."""
        done = self.command(*map(str, arguments))
        assert done.returncode == status, f"{arguments} exits {done.returncode}: {done}"
        return [json.loads(line) for line in done.stdout.splitlines()]

    def sweep(self, *kinds, status=0):
        return self.ask("sweep", *kinds, status=status)[0]

    def dump(self):
        return dump(self.path)

    def assert_dump(self, wanted, what):
        assert_same(*(self.modelled(one) for one in (self.dump(), wanted)), what)

    def modelled(self, dump):
        return {name: [{column: value for column, value in row.items()
                        if f"{name}.{column}" not in self.unmodelled} for row in rows]
                for name, rows in dump.items() if name not in self.unmodelled}

    def follow(self, change, nodes, nulls=0):
        """What must follow a change of the application's follows; an undo takes that back, but for
        so many nulls; and the next sweep does it again, as far as references dangle."""
        before = self.dump()
        change()
        between = self.dump()
        swept = self.expect(before, between)
        assert nodes == swept["deletedCount"], f"{nodes} nodes were to follow: {swept}"
        undo = self.ask("undo", swept["batch"], status=4 if nulls else 0)[0]
        assert undo["leftCount"] == nulls, f"{nulls} nulls were to stay: {undo}"
        undone = definition.undone(self.model, before, between)
        self.assert_dump(undone, "after undo")
        self.expect(undone, undone)
        return swept

    def expect(self, before, between):
        wanted, count = definition.expected(self.model, before, between)
        swept = self.sweep()
        self.assert_dump(wanted, "after the sweep")
        assert swept["deletedCount"] == count, f"{count} nodes were to go: {swept}"
        return swept

    def live(self, work):
        """The application works while the daemon sweeps by itself: nothing is in its way, and
        nothing is left."""
        self.sweeps = "default"
        self.write_model()
        self.ask("reload")
        work()
        wait(lambda: self.is_idle(), "all is swept")
        after = self.dump()
        self.assert_dump(definition.expected(self.model, after, after)[0], "after work")

    def is_idle(self):
        status = self.status()
        return status.get("state") == "ok" and not status["journal"]

    def is_open(self):
        """Whether the daemon has the database open: where the model says `exclusive`, a turn."""
        directory = f"/proc/{self.daemon.pid}/fd"
        for name in os.listdir(directory):
            with contextlib.suppress(OSError):
                if os.readlink(f"{directory}/{name}") == str(self.path):
                    return True
        return False

    def between_turns(self, run, error):
        """As a user would: a second try when the turn is over, if the first one was during one."""
        try:
            return run()
        except error:
            self.met += 1
            wait(lambda: not self.is_open(), "the turn ends")
            return run()

    def detach(self):
        self.ask("detach")
        assert schema(self.path) == self.schema, "detach leaves another schema"
        assert not cascades(self.path), f"detach leaves {cascades(self.path)}"


def is_sound(database):
    with contextlib.closing(sqlite3.connect(database)) as db:
        add_collations(db)
        return db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
