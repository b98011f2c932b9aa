#!/usr/bin/env python3
"""A program of somebody else's that uses CascadeKit.

The example is copied into a fresh directory and depends on this repository by a file:// URL. It
builds offline and without flags, although its targets are called Model, Store and System; it links
neither systemd nor Foundation; it runs beside a daemon. And what must not compile does not, on the
line where it is wrong. $BIN is the directory with the daemon.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "deploy/examples/music"
BIN = pathlib.Path(os.environ["BIN"])

MISTAKES = [
    # what is wrong, a part of the message, the lines; the wrong one ends with //!
    ("an optional relationship over a mandatory property", "ID<Artist>", """
@Model("a", table: "a") struct A { let id: ID<A>; var artist: ID<Artist>
  static let artist = Relationship<Artist?>(\\.artist, "artist") //!
}"""),
    ("a path of another type", "Artist", """
@Model("a", table: "a") struct A { let id: ID<A>; var artist: ID<Artist>
  static let artist = Relationship<Artist>(\\Artist.name, "artist") //!
}"""),
    ("a snapshot that is kept", "Snapshot|db", """
func keep(_ store: CascadeKit.Store) async throws {
  let kept = try await store.read { db in //!
    return db
  }
  _ = kept
}"""),
    ("an identity that changes", "`id` is the identity", """
@Model("a", table: "a") struct A {
  var id: ID<A> //!
}"""),
    ("a class", "needs a struct", """
@Model("a", table: "a")
final class A { let id: ID<A> = .new() } //!
"""),
    ("a relationship in an extension", "does not see a relationship in an extension", """
@Model("a", table: "a") struct A { let id: ID<A>; var artist: ID<Artist> }
extension A {
  static let artist = Relationship<Artist>( //!
    \\.artist, "artist")
}"""),
    ("a reference to files in an extension", "does not see", """
@Model("a", table: "a") struct A { let id: ID<A>; var path: String }
extension A { static let file = FileReference(\\A.path, "file", root: "media") } //!
"""),
    ("a condition on another model", "Artist|Album", """
let query = Album.where(\\Artist.name == "x") //!
"""),
]


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def check(condition, text):
    if not condition:
        sys.exit(f"{sys.argv[0]}: {text}")


def copy(directory, repository):
    shutil.copytree(EXAMPLE, directory, dirs_exist_ok=True)
    manifest = directory / "Package.swift"
    text = manifest.read_text()
    text = text.replace("@REPOSITORY@", f"file://{repository}").replace("@NAME@", repository.name)
    manifest.write_text(text)


def build(directory):
    return run("swift", "build", cwd=directory)


def check_program(directory, scratch):
    program = directory / ".build/debug/Music"
    libraries = run("ldd", program).stdout
    check("libsqlite3" in libraries, "the program does not link SQLite")
    for unwanted in ["systemd", "Foundation", "microhttpd"]:
        check(unwanted not in libraries, f"the program links {unwanted}:\n{libraries}")
    store = scratch / "music.db"
    subprocess.run(["sqlite3", store, """PRAGMA journal_mode = WAL;
        CREATE TABLE artist(id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE album(id TEXT PRIMARY KEY, title TEXT, artist TEXT);
        CREATE INDEX album_artist ON album(artist)"""], check=True, stdout=subprocess.DEVNULL)
    model = scratch / "model.json"
    model.write_text(run(program, "model", store).stdout)
    daemon = subprocess.Popen([BIN / "cascaded", "--model", model, store], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while run(BIN / "cascadectl", "--store", store, "status").returncode != 0:
            check(time.monotonic() < end, "the daemon does not answer")
            time.sleep(0.05)
        result = run(program, "run", store)
        check(result.returncode == 0, result.stdout)
        check("deleted 2, among them the album: true" in result.stdout, result.stdout)
        check("restored 2" in result.stdout, result.stdout)
    finally:
        daemon.terminate()
        daemon.wait()


def check_mistakes(directory):
    source = directory / "Sources/Music/Mistake.swift"
    for what, message, text in MISTAKES:
        lines = ("import CascadeKit\nimport Model\n" + text).split("\n")
        wrong = next(number for number, line in enumerate(lines, 1) if line.endswith("//!"))
        source.write_text("\n".join(lines) + "\n")
        result = build(directory)
        check(result.returncode != 0, f"{what} compiles")
        places = re.findall(r"Mistake\.swift:(\d+):\d+: error: (.*)", result.stdout)
        found = any(int(line) == wrong and re.search(message, error) for line, error in places)
        check(found, f"{what}: no error on line {wrong} that says {message}:\n{result.stdout[-3000:]}")
        print(f"refused: {what}")
    source.unlink()


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name).resolve()
        repository = scratch / "cascade"
        subprocess.run(["git", "clone", "-q", f"file://{ROOT}", repository], check=True)
        subprocess.run(["git", "-C", repository, "checkout", "-q", "-B", "main"], check=True)
        directory = scratch / "music"
        copy(directory, repository)
        result = build(directory)
        check(result.returncode == 0, result.stdout[-3000:])
        check_program(directory, scratch)
        print("a package of its own builds and runs")
        check_mistakes(directory)


main()
