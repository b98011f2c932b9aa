"""SQLAlchemy, set up as the guide for frameworks says: the lines are taken from the guide.

A transaction that reads, and then writes, holds every other writer back from its beginning, so
nobody can commit in between. Beside a daemon that sweeps at once, none fails."""
import pathlib
import sqlite3
import time

import sqlalchemy
from fixture import Store, is_sound
from sqlalchemy import text

GUIDE = pathlib.Path(__file__).resolve().parent.parent / "guides/frameworks.md"
MODEL = {
    "collections": {"artists": {"table": "artist", "key": "id"},
                    "albums": {"table": "album", "key": "id"}},
    "relationships": [
        {"name": "artist", "from": "albums", "to": "artists", "column": "artist_id",
         "rules": ["deleteSourceIfDestinationDeleted"]}]}
SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER, title TEXT);
CREATE INDEX album_artist ON album(artist_id);
"""


def engine_of_guide():
    """Runs the lines of the guide, which open app.db."""
    code = GUIDE.read_text().split("```python\n", 1)[1].split("```", 1)[0]
    assert "sqlalchemy" in code, code
    names = {}
    exec(code, names)
    return names["engine"]


def can_write():
    """Whether another connection, which does not wait, can write."""
    other = sqlite3.connect("app.db", timeout=0, isolation_level=None)
    try:
        other.execute("UPDATE artist SET name = 'other'")
        return True
    except sqlite3.OperationalError as error:
        assert "locked" in str(error), error
        return False
    finally:
        other.close()


def holds_writers_back(engine):
    with engine.begin() as connection:
        connection.execute(text("SELECT count(*) FROM artist")).scalar()
        return not can_write()


def add(engine, artist):
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO artist VALUES(:id, 'name')"), {"id": artist})
        connection.execute(text("INSERT INTO album(artist_id, title) VALUES(:id, 'title')"),
                           [{"id": artist}] * 5)


def delete(engine, artist):
    """Reads, takes some time, and then writes."""
    with engine.begin() as connection:
        connection.execute(
            text("SELECT count(*) FROM album WHERE artist_id = :id"), {"id": artist}).scalar()
        time.sleep(0.002)
        connection.execute(text("DELETE FROM artist WHERE id = :id"), {"id": artist})


def work(engine):
    for artist in range(100, 200):
        add(engine, artist)
        delete(engine, artist)


def main():
    sqlite3.connect("app.db").executescript(SCHEMA).connection.close()
    engine = engine_of_guide()
    for artist in range(3):
        add(engine, artist)
    assert not holds_writers_back(sqlalchemy.create_engine("sqlite:///app.db"))
    assert holds_writers_back(engine)
    with Store("app.db", MODEL) as store:
        store.follow(lambda: delete(engine, 1), nodes=5)
        store.live(lambda: work(engine))
        store.detach()
    engine.dispose()
    assert is_sound("app.db")


main()
