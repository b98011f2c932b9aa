"""A throw-away PostgreSQL server with a database `music`, and the daemon that serves it.

Roles: postgres; application, which owns the database; cascaded.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ["BIN"])
NOT_HERE = 77


def wait(condition, what, limit=30):
    end = time.monotonic() + limit
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)
    return found


def programs():
    """The directory of the newest server's programs."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"),
                   key=lambda path: int(path.parts[-3]))
    if not found:
        print("PostgreSQL is not installed")
        sys.exit(NOT_HERE)
    return found[-1].parent


def as_nobody():
    """The server refuses to run as root."""
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []


class Server:
    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cascade-server."))
        if os.getuid() == 0:
            shutil.chown(self.directory, "nobody", "nogroup")
        place, bin_ = self.directory, programs()
        subprocess.run([*as_nobody(), bin_ / "initdb", "-D", place / "data", "-U", "postgres", "-A", "trust",
                        "-E", "UTF8", "--no-sync"], cwd=place, check=True, stdout=subprocess.DEVNULL)
        self.log = open("server.log", "w")
        self.process = subprocess.Popen(
            [*as_nobody(), bin_ / "postgres", "-D", place / "data", "-k", place, "-c", "listen_addresses=",
             "-c", "fsync=off"], cwd=place, stdout=self.log, stderr=self.log)
        wait(lambda: subprocess.run([bin_ / "pg_isready", "-q", "-h", place]).returncode == 0,
             "the server answers")
        self.psql = [bin_ / "psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", place]
        self.sql("CREATE ROLE cascaded LOGIN; CREATE ROLE application LOGIN", database="postgres")
        self.sql("CREATE DATABASE music OWNER application", database="postgres")
        self.sql("GRANT CREATE ON DATABASE music TO cascaded")
        self.sql("GRANT USAGE ON SCHEMA public TO cascaded")
        return self

    def __exit__(self, *error):
        self.process.send_signal(signal.SIGINT)  # ends its sessions, too
        self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.directory)

    def sql(self, text, role="postgres", database="music"):
        done = subprocess.run([*self.psql, "-U", role, database, "-c", text], check=True, text=True,
                              stdout=subprocess.PIPE)
        return done.stdout.splitlines()

    def location(self, role):
        return f"postgresql:///music?host={self.directory}&user={role}"


class Daemon:
    """Serves the database while the block runs."""

    def __init__(self, server, model):
        self.spool = pathlib.Path("spool").resolve()
        self.model = {"store": server.location("cascaded"), "spool": str(self.spool), **model}
        self.log = pathlib.Path("cascaded.log")

    def __enter__(self):
        pathlib.Path("model.json").write_text(json.dumps(self.model))
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [BIN / "cascaded-postgres", "--model", "model.json"], stderr=log)
        wait(lambda: self.state() == "ok", "the store is served")
        return self

    def __exit__(self, *error):
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        assert self.process.wait(30) == 0, "the daemon ends in disorder"

    def state(self):
        assert self.process.poll() is None, f"the daemon ended:\n{self.log.read_text()}"
        return self.status().get("state")

    def status(self):
        done = self.command("status")
        return json.loads(done.stdout)["stores"][0] if done.returncode == 0 else {}

    def command(self, *arguments, text=""):
        return subprocess.run([BIN / "cascadectl", "--json", "--socket", self.spool / "control",
                               *map(str, arguments)], input=text, text=True, capture_output=True)

    def ask(self, *arguments, status=0, text=""):
        """The lines that a command prints, as values."""
        done = self.command(*arguments, text=text)
        assert done.returncode == status, f"{arguments} exits {done.returncode}: {done}"
        return [json.loads(line) for line in done.stdout.splitlines()]

    def apply(self, *changes, status=0):
        return self.ask("apply", "-", status=status, text=json.dumps({"changes": changes}))[0]
