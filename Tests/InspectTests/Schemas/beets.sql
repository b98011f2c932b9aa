-- beets 2: a music library. It declares nothing; what it means is written as REFERENCES.
CREATE TABLE albums(id INTEGER PRIMARY KEY, artpath BLOB, added REAL, albumartist TEXT, album TEXT,
  genre TEXT, year INTEGER, month INTEGER, day INTEGER, disctotal INTEGER, comp INTEGER,
  mb_albumid TEXT, mb_albumartistid TEXT, albumtype TEXT, label TEXT, country TEXT,
  catalognum TEXT, original_year INTEGER);
CREATE TABLE items(id INTEGER PRIMARY KEY, path BLOB,
  album_id INTEGER REFERENCES albums(id),
  title TEXT, artist TEXT, album TEXT, albumartist TEXT, genre TEXT, year INTEGER, track INTEGER,
  tracktotal INTEGER, disc INTEGER, bpm INTEGER, mb_trackid TEXT, mb_albumid TEXT, mb_artistid TEXT,
  length REAL, bitrate INTEGER, format TEXT, samplerate INTEGER, channels INTEGER, mtime REAL,
  added REAL, data_source TEXT);
CREATE TABLE album_attributes(id INTEGER PRIMARY KEY,
  entity_id INTEGER REFERENCES albums(id),
  key TEXT, value TEXT, UNIQUE(entity_id, key) ON CONFLICT REPLACE);
CREATE TABLE item_attributes(id INTEGER PRIMARY KEY,
  entity_id INTEGER REFERENCES items(id),
  key TEXT, value TEXT, UNIQUE(entity_id, key) ON CONFLICT REPLACE);
CREATE INDEX album_attributes_by_entity ON album_attributes(entity_id);
CREATE INDEX item_attributes_by_entity ON item_attributes(entity_id);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 1200)
  SELECT i FROM n;
INSERT INTO albums SELECT i, NULL, 1.6e9 + i, 'Artist ' || (i % 40), 'Album ' || i,
  CASE i % 3 WHEN 0 THEN 'Rock' ELSE 'Jazz' END, 1960 + i % 60, i % 12, i % 28, 1, 0,
  lower(hex(randomblob(16))), lower(hex(randomblob(16))), 'album', 'Label ' || (i % 9), 'US', '',
  1960 + i % 60 FROM n WHERE i <= 100;
INSERT INTO items SELECT i, CAST('/music/' || i || '.mp3' AS BLOB), i % 100 + 1, 'Song ' || i,
  'Artist ' || (i % 40), 'Album ' || (i % 100 + 1), 'Artist ' || (i % 40), 'Rock', 1960 + i % 60,
  i % 12 + 1, 12, 1, 0, lower(hex(randomblob(16))),
  (SELECT mb_albumid FROM albums WHERE id = i % 100 + 1), lower(hex(randomblob(16))), 180 + i % 90,
  320000, 'MP3', 44100, 2, 1.6e9 + i, 1.6e9 + i, 'MusicBrainz' FROM n;
INSERT INTO items(id, title, album_id) VALUES(5000, 'Single', NULL);
INSERT INTO album_attributes SELECT i, i, 'mb_release', 'x' || i FROM n WHERE i <= 60;
INSERT INTO item_attributes SELECT i, i * 2, 'play_count', i % 7 FROM n WHERE i <= 500;
