"""Inspects a database while a program writes to it at full speed, as a user who may only read it.

Arguments: the journal mode, and the command that runs cascadectl as that user.
"""
import hashlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

MODE, CTL = sys.argv[1], sys.argv[2:]

SCHEMA = f"""
PRAGMA journal_mode = {MODE};
CREATE TABLE album(id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER REFERENCES album, title TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
INSERT INTO album SELECT i, 'album ' || i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000)
INSERT INTO song SELECT i, i % 2001, 'song ' || i FROM n WHERE i % 2001;
INSERT INTO song VALUES (1000001, 900000001, 'an orphan'), (1000002, 900000002, 'another');
"""


def files(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).digest()
            for path in pathlib.Path(directory).iterdir()}


class Writer:
    """Commits as fast as it can. Records for how long a statement was refused."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, timeout=0, isolation_level=None)
        self.db.execute("PRAGMA synchronous = OFF")
        self.commits, self.waits = 0, []

    def commit(self):
        start, refused = time.monotonic(), False
        while True:
            try:
                self.db.execute("INSERT INTO album(title) VALUES ('new')")
                break
            except sqlite3.OperationalError as error:
                assert "locked" in str(error), error
                refused = True
                time.sleep(0.0002)
        self.commits += 1
        if refused:
            self.waits.append((time.monotonic() - start) * 1000)


def main():
    with tempfile.TemporaryDirectory(prefix="cascade-inspected.") as directory:
        os.chmod(directory, 0o755)
        path = f"{directory}/music.db"
        with sqlite3.connect(path) as db:
            db.executescript(SCHEMA)
        db.close()
        command = [*CTL, "inspect", path]

        before = files(directory)
        assert list(before) == ["music.db"], before
        text = subprocess.check_output(command, text=True)
        assert text.endswith("\n2 orphaned rows in 1 relationship\n"), text
        assert files(directory) == before, "the file, or what is beside it, has changed"

        writer = Writer(path)
        writer.commit()
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while program.poll() is None:
            writer.commit()
        assert program.returncode == 0, program.returncode
        text = program.stdout.read()
        assert text.endswith("\n2 orphaned rows in 1 relationship\n"), text
        names = {"wal": {"music.db", "music.db-wal", "music.db-shm"}, "delete": {"music.db"}}
        assert set(files(directory)) - {"music.db-journal"} == names[MODE], files(directory)
        writer.db.close()
        assert set(files(directory)) == {"music.db"}, files(directory)

        waits = sorted(writer.waits) or [0]
        print(f"{MODE}: {writer.commits} commits, {len(writer.waits)} had to wait; "
              f"median {waits[len(waits) // 2]:.1f} ms, longest {waits[-1]:.1f} ms")
        assert writer.commits > 100
        if MODE == "wal":
            assert not writer.waits, "a statement had to wait"
        # At most 10 ms where the machine has nothing else to do. Without pauses it would be as long
        # as a query takes.
        assert waits[len(waits) // 2] <= 25 and waits[-1] <= 200, waits


main()
