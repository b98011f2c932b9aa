-- newsboat 2.21: a feed reader for terminals. It declares nothing.
CREATE TABLE rss_feed(rssurl VARCHAR(1024) PRIMARY KEY NOT NULL, url VARCHAR(1024) NOT NULL,
  title VARCHAR(1024) NOT NULL, lastmodified INTEGER(11) NOT NULL DEFAULT 0,
  is_rtl INTEGER(1) NOT NULL DEFAULT 0, etag VARCHAR(128) NOT NULL DEFAULT '');
CREATE TABLE rss_item(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid VARCHAR(64) NOT NULL,
  title VARCHAR(1024) NOT NULL, author VARCHAR(1024) NOT NULL, url VARCHAR(1024) NOT NULL,
  feedurl VARCHAR(1024) NOT NULL REFERENCES rss_feed(rssurl),
  pubDate INTEGER NOT NULL, content VARCHAR(65535) NOT NULL, unread INTEGER(1) NOT NULL,
  enclosure_url VARCHAR(1024), enclosure_type VARCHAR(1024), enqueued INTEGER(1) DEFAULT 0,
  flags VARCHAR(52), deleted INTEGER(1) NOT NULL DEFAULT 0, base VARCHAR(128) NOT NULL DEFAULT '',
  content_mime_type VARCHAR(255) NOT NULL DEFAULT '', enclosure_description TEXT DEFAULT '');
CREATE TABLE google_replay(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  guid VARCHAR(64) NOT NULL, state INTEGER NOT NULL, ts INTEGER NOT NULL);
CREATE TABLE metadata(db_schema_version_major INTEGER NOT NULL,
  db_schema_version_minor INTEGER NOT NULL);
CREATE INDEX idx_feedurl ON rss_item(feedurl);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 500)
  SELECT i FROM n;
INSERT INTO rss_feed SELECT 'https://blog' || i || '.example/rss', 'https://blog' || i || '.example/',
  'Blog ' || i, 0, 0, '' FROM n WHERE i <= 20;
INSERT INTO rss_item(guid, title, author, url, feedurl, pubDate, content, unread, enclosure_type)
  SELECT 'guid-' || hex(randomblob(8)), 'Post ' || i, 'me', 'https://blog' || (i % 20 + 1) ||
  '.example/' || i, 'https://blog' || (i % 20 + 1) || '.example/rss', 1700000000 + i * 600, 'text',
  i % 2, '' FROM n;
INSERT INTO metadata VALUES(2, 11);
