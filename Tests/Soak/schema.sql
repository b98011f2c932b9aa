CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE cover(id INTEGER PRIMARY KEY);
CREATE TABLE album(
  id INTEGER PRIMARY KEY, title TEXT UNIQUE, artist_id INTEGER, cover_id INTEGER,
  loose INTEGER NOT NULL DEFAULT 0);
CREATE INDEX album_artist ON album(artist_id);
CREATE INDEX album_cover ON album(cover_id);
CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, slot TEXT UNIQUE);
CREATE INDEX song_album ON song(album_id);
CREATE TABLE song_artist(
  song_id INTEGER, artist_id INTEGER, PRIMARY KEY(song_id, artist_id)) WITHOUT ROWID;
CREATE INDEX song_artist_artist ON song_artist(artist_id);
CREATE TABLE photo(id TEXT PRIMARY KEY, loose INTEGER NOT NULL DEFAULT 0);
CREATE TABLE post(id INTEGER PRIMARY KEY, photo_id TEXT, body TEXT, slug TEXT UNIQUE);
CREATE INDEX post_photo ON post(photo_id);

-- Artists that nobody deletes.
INSERT INTO artist VALUES(1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five');
