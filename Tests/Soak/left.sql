-- What the rules do not allow to be left, or to be missing, at the end: a row for each such thing.
-- The writers' expectations are attached as w0, w1 and w2.
CREATE TEMP VIEW expected_post AS
  SELECT * FROM w0.post UNION ALL SELECT * FROM w1.post UNION ALL SELECT * FROM w2.post;
CREATE TEMP VIEW expected_song AS
  SELECT id, album_id FROM w0.song UNION ALL SELECT id, album_id FROM w1.song
  UNION ALL SELECT id, album_id FROM w2.song;
CREATE TEMP VIEW expected_feature AS
  SELECT song_id, artist_id
  FROM (
    SELECT * FROM w0.feature UNION ALL SELECT * FROM w1.feature UNION ALL SELECT * FROM w2.feature)
  WHERE artist_id <= 5 AND song_id IN (SELECT id FROM expected_song);
CREATE TEMP VIEW expected_loose AS
  SELECT id FROM w0.album UNION ALL SELECT id FROM w1.album UNION ALL SELECT id FROM w2.album
  UNION ALL SELECT id FROM w0.photo UNION ALL SELECT id FROM w1.photo
  UNION ALL SELECT id FROM w2.photo;
CREATE TEMP VIEW reference AS
  SELECT photo_id AS photo FROM main.post WHERE photo_id IS NOT NULL
  UNION SELECT y.value
  FROM main.post, json_each(iif(json_valid(body), body, '{}'), '$.photoIds') AS y
  WHERE y.type = 'text';
CREATE TEMP VIEW steady_song AS
  SELECT id, album_id FROM main.song WHERE album_id <= 60;
CREATE TEMP VIEW feature AS
  SELECT song_id, artist_id FROM main.song_artist
  WHERE artist_id <= 5 AND song_id % 10000000 > 1000000
  AND song_id IN (SELECT id FROM expected_song);
CREATE TEMP VIEW loose AS
  SELECT id FROM main.album WHERE id >= 10000000
  UNION ALL SELECT id FROM main.photo WHERE loose;

SELECT 'post lost', * FROM (SELECT * FROM expected_post EXCEPT SELECT * FROM main.post);
SELECT 'post left', * FROM (SELECT * FROM main.post EXCEPT SELECT * FROM expected_post);
SELECT 'song lost', * FROM (SELECT * FROM expected_song EXCEPT SELECT * FROM steady_song);
SELECT 'song left', * FROM (SELECT * FROM steady_song EXCEPT SELECT * FROM expected_song);
SELECT 'feature lost', * FROM (SELECT * FROM expected_feature EXCEPT SELECT * FROM feature);
SELECT 'feature left', * FROM (SELECT * FROM feature EXCEPT SELECT * FROM expected_feature);
SELECT 'loose lost', * FROM (SELECT * FROM expected_loose EXCEPT SELECT * FROM loose);
SELECT 'loose left', * FROM (SELECT * FROM loose EXCEPT SELECT * FROM expected_loose);
SELECT 'photo lost', * FROM (SELECT * FROM reference EXCEPT SELECT id FROM main.photo);
SELECT 'photo left', id FROM main.photo WHERE NOT loose AND id NOT IN (SELECT photo FROM reference);
SELECT 'album left', id FROM main.album
  WHERE NOT loose AND id NOT IN (SELECT album_id FROM main.song WHERE album_id IS NOT NULL);
SELECT 'artist lost', value FROM json_each('[1, 2, 3, 4, 5]')
  WHERE value NOT IN (SELECT id FROM main.artist);
SELECT 'song dangles', id, album_id FROM main.song
  WHERE album_id NOT IN (SELECT id FROM main.album);
SELECT 'album dangles', id, artist_id FROM main.album
  WHERE artist_id NOT IN (SELECT id FROM main.artist);
SELECT 'cover dangles', id, cover_id FROM main.album
  WHERE cover_id NOT IN (SELECT id FROM main.cover);
SELECT 'join dangles', * FROM main.song_artist
  WHERE song_id NOT IN (SELECT id FROM main.song) OR artist_id NOT IN (SELECT id FROM main.artist);
SELECT 'journal', * FROM main.cascade_journal;
SELECT 'corrupt', * FROM pragma_integrity_check WHERE integrity_check <> 'ok';
