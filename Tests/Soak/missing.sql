-- What may be missing at no instant: no application deletes it, and something still refers to it.
SELECT 'photo of a post', id, photo_id FROM post
  WHERE photo_id IS NOT NULL AND photo_id NOT IN (SELECT id FROM photo);
SELECT 'photo of a list', p.id, y.value
  FROM post AS p, json_each(iif(json_valid(p.body), p.body, '{}'), '$.photoIds') AS y
  WHERE y.type = 'text' AND y.value NOT IN (SELECT id FROM photo);
SELECT 'album', id, album_id FROM song
  WHERE album_id <= 60 AND album_id NOT IN (SELECT id FROM album);
SELECT 'artist', count(*) FROM artist WHERE id <= 5 HAVING count(*) < 5;
