"""beets: tracks, and what is attached to them, go with their album; so do the files of the tracks,
whose paths are blobs; an album goes with its last track."""
import pathlib

from beets.library import Item, Library
from fixture import Store, is_sound, wait

MODEL = {
    "collections": {name: {"table": name, "key": "id"} for name in (
        "albums", "items", "album_attributes", "item_attributes")},
    "relationships": [
        {"name": "album", "from": "items", "to": "albums", "column": "album_id", "rules": [
            "deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]},
        {"name": "entity", "from": "item_attributes", "to": "items", "column": "entity_id",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "entity", "from": "album_attributes", "to": "albums", "column": "entity_id",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "path", "from": "items", "to": {"files": "music"}, "column": "path",
         "rules": ["deleteDestinationIfAllSourcesDeleted"]}],
    "files": {"music": str(pathlib.Path("music").resolve())}}


def add_album(library, name, tracks=4):
    items = []
    for number in range(tracks):
        path = pathlib.Path("music", name, f"{number}.mp3").resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} {number}")
        items.append(Item(title=f"{name} {number}", artist=name, albumartist=name,
                           path=bytes(path), mood="calm"))
    album = library.add_album(items)
    album["shelf"] = "3"
    album.store()
    return album


def files():
    return {str(path) for path in pathlib.Path("music").rglob("*.mp3")
            if ".cascade-trash" not in path.parts}


def work(library):
    for number in range(20):
        add_album(library, f"work {number}")
        album = library.albums(f"albumartist:'work {number}'").get()
        album["rating"] = number
        album.store()
        if number % 2:
            album.remove(with_items=False)
        else:
            for item in album.items():
                item.remove(with_album=False)


def main():
    library = Library("beets.db", directory=str(pathlib.Path("music").resolve()))
    for name in ("Nina", "Ella", "Billie"):
        add_album(library, name)
    named = files()
    with Store("beets.db", MODEL) as store:
        album = library.albums("albumartist:Nina").get()
        store.follow(lambda: album.remove(with_items=False), nodes=12)
        assert named - files() == {f"music/Nina/{number}.mp3" for number in range(4)}
        items = list(library.items("artist:Ella"))
        store.follow(lambda: [item.remove(with_album=False) for item in items], nodes=2)
        left = files()  # those of Ella too: an undo brought them back
        store.live(lambda: work(library))
        wait(lambda: files() == left, "the files of the work have gone")
        store.detach()
    add_album(library, "Sarah")
    assert len(library.albums()) == 3 and len(library.items("artist:Sarah")) == 4
    assert is_sound("beets.db")


main()
