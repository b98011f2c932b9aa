-- reader 3: a feed reader library for Python.
CREATE TABLE feeds(url TEXT PRIMARY KEY NOT NULL, title TEXT, link TEXT, updated TIMESTAMP,
  author TEXT, subtitle TEXT, version TEXT, user_title TEXT, http_etag TEXT,
  http_last_modified TEXT, data_hash BLOB, stale INTEGER NOT NULL DEFAULT 0,
  updates_enabled INTEGER NOT NULL DEFAULT 1, added TIMESTAMP NOT NULL, last_updated TIMESTAMP);
CREATE TABLE entries(id TEXT NOT NULL,
  feed TEXT NOT NULL REFERENCES feeds(url) ON DELETE CASCADE ON UPDATE CASCADE,
  title TEXT, link TEXT, updated TIMESTAMP, author TEXT, published TIMESTAMP, summary TEXT,
  content TEXT, enclosures TEXT, original_feed TEXT, data_hash BLOB,
  read INTEGER NOT NULL DEFAULT 0, important INTEGER, added_by TEXT NOT NULL,
  first_updated TIMESTAMP NOT NULL, sequence BLOB, PRIMARY KEY (id, feed));
CREATE TABLE feed_metadata(
  feed TEXT NOT NULL REFERENCES feeds(url) ON DELETE CASCADE,
  key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (feed, key));
CREATE TABLE feed_tags(
  feed TEXT NOT NULL REFERENCES feeds(url) ON DELETE CASCADE,
  key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (feed, key));
CREATE TABLE entry_tags(id TEXT NOT NULL, feed TEXT NOT NULL, key TEXT NOT NULL,
  value TEXT NOT NULL, PRIMARY KEY (id, feed, key)
  , FOREIGN KEY (id, feed) REFERENCES entries(id, feed) ON DELETE CASCADE
);
CREATE TABLE global_tags(key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key));
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 600)
  SELECT i FROM n;
INSERT INTO feeds SELECT 'https://example.org/feeds/' || i || '.xml', 'Feed ' || i,
  'https://example.org/' || i, '2025-01-01 00:00:00', NULL, NULL, 'rss20', NULL, NULL, NULL, NULL, 0,
  1, '2025-01-01 00:00:00', NULL FROM n WHERE i <= 30;
INSERT INTO entries SELECT 'https://example.org/entry/' || i,
  'https://example.org/feeds/' || (i % 30 + 1) || '.xml', 'Entry ' || i,
  'https://example.org/entry/' || i, NULL, NULL, NULL, 'text', '[]', '[]', NULL, NULL, i % 2, NULL,
  'feed', '2025-01-01 00:00:00', NULL FROM n;
INSERT INTO feed_tags SELECT url, 'tag', '""' FROM feeds WHERE url LIKE '%1%';
INSERT INTO entry_tags SELECT id, feed, 'later', 'null' FROM entries WHERE id LIKE '%7%';
INSERT INTO global_tags VALUES('x', 'null');
