"""Anki locks its collection for itself while it runs. It opens, works and closes as if there were
no daemon, which takes its turns in between: the reviews of removed cards, which Anki keeps, follow.
"""
import contextlib
import statistics
import threading
import time

from anki.collection import Collection
from anki.errors import DBError
from fixture import Store, is_sound, wait

MODEL = {
    "exclusive": True,
    "collections": {name: {"table": name, "key": "id"} for name in ("notes", "cards", "revlog")},
    "relationships": [
        {"name": "note", "from": "cards", "to": "notes", "column": "nid", "rules": [
            "deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]},
        {"name": "card", "from": "revlog", "to": "cards", "column": "cid",
         "rules": ["deleteSourceIfDestinationDeleted"]}]}
NAME = "collection.anki2"
opened = []  # how long Anki took to open


def open_collection():
    begin = time.monotonic()
    collection = Collection(NAME)
    opened.append(time.monotonic() - begin)
    return collection


@contextlib.contextmanager
def anki(store=None):
    collection = store.between_turns(open_collection, DBError) if store else open_collection()
    try:
        yield collection
    finally:
        collection.close()


def add(collection, name, notes=6, reviews=4):
    deck = collection.decks.id(name)
    for number in range(notes):
        note = collection.new_note(collection.models.by_name("Basic"))
        note["Front"], note["Back"] = f"{name} {number}", "back"
        collection.add_note(note, deck)
    collection.decks.select(deck)
    for _ in range(reviews):
        collection.sched.answerCard(collection.sched.getCard(), 4)


def remove(store, name):
    with anki(store) as collection:
        collection.remove_notes(collection.find_notes(f'deck:"{name}"'))


def work(store):
    """Sessions at any time: at once, before a turn may begin, and about when it does."""
    for number in range(16):
        with anki(store) as collection:
            add(collection, f"work {number}")
            wait(lambda: store.status()["state"] == "waiting", "the daemon waits")
        remove(store, f"work {number}")
        time.sleep(number % 4 * 0.4)


class Turns:
    """Looks how long the daemon has the collection open each time."""

    def __init__(self, store):
        self.store, self.lengths, self.is_over = store, [], False
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.begin = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        self.time = time.monotonic() - self.begin

    def watch(self):
        begin = None
        while not self.is_over:
            is_open = self.store.is_open()
            if is_open and begin is None:
                begin = time.monotonic()
            elif not is_open and begin is not None:
                self.lengths.append(time.monotonic() - begin)
                begin = None
            time.sleep(0.001)

    def report(self, alone):
        print(f"# {len(self.lengths)} turns in {self.time:.0f} s, "
              f"median {statistics.median(self.lengths) * 1000:.0f} ms, "
              f"longest {max(self.lengths) * 1000:.0f} ms; {self.store.met} of {len(opened)} "
              f"sessions met one; Anki opened in {statistics.median(opened) * 1000:.0f} ms, "
              f"{alone * 1000:.0f} ms without the daemon")


def put_away():
    """Also without `exclusive`, a store that is paused or detached is not open any more."""
    with Store(NAME, {**MODEL, "exclusive": False}) as store:
        for command, back in (("pause", "resume"), ("detach", "attach")):
            store.ask(command)
            wait(lambda: not store.is_open(), f"nothing is open after {command}", limit=5)
            with anki() as collection:
                add(collection, command)
            store.ask(back)
        store.detach()


def main():
    with anki() as collection:
        for name in ("one", "two", "three"):
            add(collection, name)
    for _ in range(5):
        with anki():
            pass
    alone = statistics.median(opened[1:])
    opened.clear()
    with Store(NAME, MODEL) as store:
        store.follow(lambda: remove(store, "one"), nodes=4)
        with Turns(store) as turns:
            store.live(lambda: work(store))
        store.detach()
    turns.report(alone)
    put_away()
    with anki() as collection:
        assert collection.card_count() == 24 and collection.note_count() == 24
        assert collection.fix_integrity()[1]
    assert is_sound(NAME)


main()
