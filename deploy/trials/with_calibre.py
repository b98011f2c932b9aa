"""calibre: authors and tags go with their last book, beside triggers that use functions which only
calibre defines, and that refuse what is still referenced. calibre writes its whole database anew
between `migrate begin` and `migrate end`."""
import json
import pathlib
import subprocess

import definition
from fixture import Store, assert_same, is_sound, schema

LINKS = {"authors": "author", "tags": "tag", "series": "series"}
MODEL = {
    "collections": {name: {"table": name, "key": "id"} for name in ("books", *LINKS)},
    "relationships": [{
        "name": name, "from": "books", "to": name,
        "rules": ["deleteDestinationIfAllSourcesDeleted"],
        "join": {"table": f"books_{name}_link", "source": "book", "destination": column}}
        for name, column in LINKS.items()]}


def calibre(command, *arguments):
    done = subprocess.run(["calibredb", "--with-library", "library", command, *arguments],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def add(title, author, tags):
    said = calibre("add", "--empty", "--title", title, "--authors", author, "--tags", tags,
                   "--series", "all")
    return said.split()[-1]


def titles():
    return {book["title"] for book in json.loads(calibre("list", "--for-machine"))}


def without_book(dump, number):
    """What calibre's trigger leaves of a book."""
    return {name: [row for row in rows if row.get("book") != number
                   and not (name == "books" and row["id"] == number)]
            for name, rows in dump.items()}


def delete_by_change_file(store, number):
    before = store.dump()
    pathlib.Path("change.json").write_text(json.dumps({"changes": [{"delete": ["books", number]}]}))
    receipt = store.ask("apply", "change.json")[0]
    between = without_book(before, number)
    wanted, count = definition.expected(MODEL, before, between)
    assert_same(store.dump(), wanted, "after the change file")
    assert receipt["deletedCount"] == 1 + count == 3, receipt
    store.ask("undo", receipt["batch"])
    assert_same(store.dump(), before, "after undo")


def remove(store, number):
    """calibre takes everything along itself: there is nothing left to do."""
    before = store.dump()
    calibre("remove", "--permanent", number)
    store.expect(before, store.dump())


def work():
    for number in range(4):
        calibre("remove", "--permanent", add(f"work {number}", f"Author {number}", "work"))


def restore(store):
    before, findings = store.dump(), store.command("check").stdout
    store.ask("migrate", "begin")
    calibre("restore_database", "--really-do-it")
    store.ask("migrate", "end")
    assert store.command("check").stdout == findings
    assert {book["title"] for book in store.dump()["books"]} == {
        book["title"] for book in before["books"]}
    store.schema = schema(store.path)


def main():
    for number in range(1, 5):
        add(f"Book {number}", f"Author {number % 3}", f"all,only {number}")
    with Store("library/metadata.db", MODEL) as store:
        delete_by_change_file(store, 3)
        remove(store, "1")
        restore(store)
        assert titles() == {"Book 2", "Book 3", "Book 4"}
        store.live(work)
        store.detach()
    add("Book 5", "Author 5", "all")
    assert titles() == {"Book 2", "Book 3", "Book 4", "Book 5"}
    assert is_sound("library/metadata.db")


main()
