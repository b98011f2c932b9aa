-- The tables that library.json speaks of, and a few rows.
CREATE TABLE artist(id TEXT PRIMARY KEY, name TEXT);
CREATE TABLE album(id TEXT PRIMARY KEY, artist_id TEXT, cover TEXT);
CREATE TABLE song(id TEXT PRIMARY KEY, title TEXT);
CREATE TABLE track(album_id TEXT, song_id TEXT, PRIMARY KEY (album_id, song_id));
CREATE INDEX album_artist ON album(artist_id);
CREATE INDEX album_cover ON album(cover);
CREATE INDEX track_song ON track(song_id);
INSERT INTO artist VALUES('nina', 'Nina Simone'), ('ella', 'Ella Fitzgerald');
INSERT INTO album VALUES('pastel-blues', 'nina', NULL), ('best-of-jazz', 'ella', NULL);
INSERT INTO song VALUES('strange-fruit', 'Strange Fruit'), ('sinnerman', 'Sinnerman');
INSERT INTO track VALUES('pastel-blues', 'strange-fruit'), ('pastel-blues', 'sinnerman'),
  ('best-of-jazz', 'sinnerman');
