"""An application's process that writes what no rule minds, while others sweep, and now and then
deletes a root. Whatever happens meanwhile, the end is always the same.

bystander.py STORE WRITES ROOT…
"""

import sqlite3
import sys
import time


def main(path, writes, *roots):
    store = sqlite3.connect(path, isolation_level=None)
    store.execute("PRAGMA busy_timeout = 60000")
    store.execute("PRAGMA synchronous = OFF")
    # A checkpoint that races with a commit corrupts what SQLite before 3.51.3 writes.
    store.execute("PRAGMA wal_autocheckpoint = 0")
    writes = int(writes)
    for number in range(writes):
        store.execute("INSERT INTO noise VALUES(?, hex(randomblob(20)))", (number,))
        if number % 10 == 0:
            store.execute("INSERT INTO song VALUES(?, 'kept', NULL)", (1_000_000 + number,))
        if roots and number % (writes // len(roots)) == 0:
            store.execute("DELETE FROM artist WHERE id = ?", (roots[0],))
            roots = roots[1:]
        time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
