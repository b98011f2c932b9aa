"""Uses `cascadectl top` as a person does. Arguments: cascadectl, the store, what to try."""
import contextlib
import os
import signal
import subprocess
import sys
import termios
import time

from terminal import Terminal

CTL, STORE, WHAT = sys.argv[1:4]


def top(**options):
    choice = "--socket" if STORE.endswith("/control") else "--store"
    return Terminal([CTL, choice, STORE, "top"], **options)


@contextlib.contextmanager
def used(first="ok", key="q", **options):
    """top, once it shows a text, and until a key ends it."""
    it = top(**options)
    it.wait_for(first, seconds=30)
    yield it
    it.type(key)
    assert it.finish() == 0


def ctl(*arguments, input=None):
    return subprocess.run(
        [CTL, "--store", STORE, *arguments], input=input, text=True, capture_output=True)


def sql(text):
    subprocess.run(["sqlite3", "-cmd", ".timeout 5000", STORE, text], check=True)


def shows():
    """The store, events as they come, held plans; answers; and it leaves when asked to."""
    with used() as it:
        assert os.path.basename(STORE) in it.text() and "p99" in it.text(), it.text()
        sql("DELETE FROM artist WHERE id = 'nina'")
        it.wait_for("deleted 3 nodes", seconds=5)
        it.type("w")
        it.wait_for("why of")
        it.type("songs/1x\x7f0\r")
        it.wait_for("songs/10 was deleted at")
        assert "deleteSourceIfDestinationDeleted" in it.text()
        it.type("\x1b")
        it.wait_for("look into")
        it.type("partists/ella\r")
        it.wait_for("denied: nothing would be deleted")
        it.type("\x1b")
        it.wait_for("look into")
        it.type("\r")
        it.wait_for("SCHEDULES")
        assert "WRITE LOCK" in it.text() and "LAST SWEEP" in it.text(), it.text()
        it.type("\x1b")
        it.type("?")
        it.wait_for("suspend")


def holds():
    with used("HELD PLANS") as it:
        assert "plan 1" in it.text() and "held" in it.text(), it.text()
        it.type("p1\r")
        it.wait_for("by collection songs: 2")
        it.wait_for("songs/11  by deleteSourceIfDestinationDeleted")
        it.type("\x1b")


def progresses():
    """A long sweep has a bar, a rate and a rest."""
    with used() as it:
        ctl("sweep", "--no-wait")
        it.wait_for("a second, ", seconds=60)
        assert "deleting [" in it.text() and "s left" in it.text(), it.text()


def resizes():
    with used() as it:
        for rows, columns in [(10, 40), (40, 160), (24, 80), (2, 5)]:
            it.resize(rows, columns)
            it.wait(lambda it: rows < 9 or "q quit" in it.text() or columns < 60, "the last line")
            it.read(0.3)
            lines = it.text().splitlines()
            assert all(len(line) <= columns for line in lines), lines
            if columns == 160:
                assert "JOURNAL" in it.text() and "q quit" in lines[39], lines


def wraps():
    """A long answer is shown whole on a narrow terminal."""
    sql("DELETE FROM artist WHERE id = 'nina'")
    with used("deleted 3 nodes", rows=30, columns=50) as it:
        it.type("wsongs/10\r")
        it.wait_for("was deleted at")
        words = " ".join(it.text().split())
        assert "deleteSourceIfDestinationDeleted of songs/10 -album-> albums/1" in words, it.text()
        assert all(len(line) <= 50 for line in it.text().splitlines())


def many():
    """Of many stores, those around the chosen one are shown."""
    with used("one-00.db", rows=16) as it:
        assert "EVENTS" in it.text() or "one-05.db" in it.text(), it.text()
        it.type("j" * 25)
        it.wait(lambda it: any(line.startswith(">") and "one-25.db" in line
                               for line in it.text().splitlines()), "the store is chosen")
        it.type("\r")
        it.wait_for("WRITE LOCK")
        assert "one-25.db" in it.text()


def is_quiet():
    """Where nothing happens, nothing is drawn; where something does, only that."""
    with used(key="\x03", columns=80) as it:
        it.read(1)
        assert it.read(3) == 0, "it draws though nothing has changed"
        sql("DELETE FROM artist WHERE id = 'nina'")
        drawn = it.read(3)
        assert 0 < drawn < 1200, f"{drawn} bytes for one event"


def ends():
    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]:
        it = top()
        it.wait_for("ok")
        it.kill(number)
        assert it.finish() == -number


def stops():
    """Suspended by a key, it gives the terminal back, and takes it again."""
    with used() as it:
        it.type("\x1a")
        it.wait(lambda it: os.waitpid(it.pid, os.WUNTRACED | os.WNOHANG)[0], "it stops")
        it.read(0.1)
        assert "?1049" not in it.modes and termios.tcgetattr(it.terminal) == it.before
        it.kill(signal.SIGCONT)
        it.wait_for("ok")


def stalls():
    """A terminal that takes nothing keeps it from nothing."""
    it = top()
    it.wait_for("ok")
    it.type("?" + "\x1b?" * 400)
    it.kill(signal.SIGTERM)
    end, status = time.monotonic() + 5, 0
    while not status and time.monotonic() < end:
        status = os.waitpid(it.pid, os.WNOHANG)[1]
        time.sleep(0.02)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM, status


def waits():
    """The daemon goes and comes back."""
    with used() as it:
        daemon = int(sys.argv[4])
        os.kill(daemon, signal.SIGSTOP)
        it.wait_for("no answer since", seconds=20)
        os.kill(daemon, signal.SIGCONT)
        it.wait(lambda it: "no answer" not in it.text(), "an answer")


globals()[WHAT]()
