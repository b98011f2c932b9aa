CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER, title TEXT);
CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, title TEXT);
CREATE INDEX album_artist ON album(artist_id);
CREATE INDEX song_album ON song(album_id);
INSERT INTO artist VALUES
  (1, 'Nina'), (2, 'Ella'), (3, 'Billie'), (4, 'Etta'), (5, 'Sarah'), (6, 'Dinah');
INSERT INTO album VALUES
  (11, 1, 'swept'), (21, 2, 'held'), (31, 3, 'protected'), (41, 4, 'of a job'), (51, 5, 'leased');
INSERT INTO song VALUES
  (111, 11, 'Feeling Good'), (112, 11, NULL),
  (211, 21, 'a'), (212, 21, 'b'), (213, 21, 'c'), (214, 21, 'd'), (215, 21, 'e'), (216, 21, 'f'),
  (311, 31, 'g'),
  (411, 41, 'h'), (412, 41, 'i'), (413, 41, 'j'), (414, 41, 'k'), (415, 41, 'l'), (416, 41, 'm'),
  (511, 51, 'n'), (512, 51, 'o');
