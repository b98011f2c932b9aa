"""The images of deploy/container: an application and the daemon, each in a container of its own, on
one volume; in both orders of starting. $PACKAGE is the Debian package; without it, it is built."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from fixture import wait

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BASE = "localhost/cascade-debian:bookworm-slim"
# Also where a process may not raise its limits, and where control groups are of both versions.
SETTINGS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"""
STORE = "/data/music.db"
INSERT = """INSERT INTO artist VALUES('nina', 'Nina'), ('ella', 'Ella');
INSERT INTO song VALUES('sinnerman', 'nina', 'Sinnerman'), ('misty', 'ella', 'Misty')"""


def run(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def podman(*arguments):
    done = run("podman", *arguments)
    assert done.returncode == 0, f"{arguments}: {done.stdout}"
    return done.stdout


def cannot(why):
    print(why.strip())
    sys.exit(77)


def make_base():
    """Of Debian's packages: a registry may be out of reach."""
    if run("podman", "image", "exists", BASE).returncode == 0:
        return
    made = run("mmdebstrap", "--variant=minbase", "bookworm", "base.tar")
    if made.returncode:
        cannot(f"mmdebstrap: {made.stdout}")
    podman("import", "base.tar", BASE)
    os.remove("base.tar")


def build():
    shutil.copytree(ROOT / "deploy/container", "context")
    package = os.environ.get("PACKAGE") or subprocess.check_output(
        [ROOT / "deploy/package"], text=True, stderr=subprocess.DEVNULL).strip()
    shutil.copy(package, "context")
    for target in ("application", "cascade"):
        podman("build", "--format", "docker", "--network", "host", "--build-arg",
               f"DEBIAN={BASE}", "--target", target, "--tag", f"cascade-trial-{target}", "context")


def start(service):
    podman("run", "--detach", "--network", "none", "--name", f"cascade-trial-{service}",
           "--volume", "cascade-trial:/data", f"cascade-trial-{service}")


def sql(text):
    return podman("exec", "cascade-trial-application", "sqlite3", "-cmd", ".timeout 10000", STORE,
                  text).split()


def state():
    done = run("podman", "exec", "cascade-trial-cascade", "cascadectl", "--json", "--store", STORE,
               "status")
    return json.loads(done.stdout)["stores"][0]["state"] if done.returncode == 0 else None


def clean_up():
    for service in ("cascade", "application"):
        run("podman", "rm", "--force", "--time", "5", f"cascade-trial-{service}")
    run("podman", "volume", "rm", "--force", "cascade-trial")


def work(first, second):
    """The daemon waits for a database without tables as it does for one that it finds."""
    try:
        start(first)
        start(second)
        wait(lambda: state() == "ok", "the store is served")
        sql(INSERT)
        sql("DELETE FROM artist WHERE id = 'nina'")
        wait(lambda: sql("SELECT id FROM song") == ["misty"], "the song follows")
        podman("stop", "--time", "5", "cascade-trial-cascade")
        sql("DELETE FROM artist WHERE id = 'ella'")
        podman("start", "cascade-trial-cascade")
        wait(lambda: sql("SELECT count(*) FROM song") == ["0"], "what went meanwhile is followed")
    finally:
        clean_up()


def main():
    pathlib.Path("containers.conf").write_text(SETTINGS)
    os.environ["CONTAINERS_CONF"] = str(pathlib.Path("containers.conf").resolve())
    make_base()
    tried = run("podman", "run", "--rm", "--network", "none", BASE, "true")
    if tried.returncode:
        cannot(f"podman: {tried.stdout}")
    build()
    clean_up()
    work("application", "cascade")
    work("cascade", "application")


main()
