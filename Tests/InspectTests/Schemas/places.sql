-- Firefox: places.sqlite. Some of it is declared by Firefox.
CREATE TABLE moz_origins(id INTEGER PRIMARY KEY, prefix TEXT NOT NULL, host TEXT NOT NULL,
  frecency INTEGER NOT NULL, UNIQUE (prefix, host));
CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR,
  rev_host LONGVARCHAR, visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL,
  typed INTEGER DEFAULT 0 NOT NULL, frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER,
  guid TEXT, foreign_count INTEGER DEFAULT 0 NOT NULL, url_hash INTEGER DEFAULT 0 NOT NULL,
  description TEXT, preview_image_url TEXT, site_name TEXT,
  origin_id INTEGER REFERENCES moz_origins(id),
  recalc_frecency INTEGER NOT NULL DEFAULT 0);
CREATE TABLE moz_historyvisits(id INTEGER PRIMARY KEY,
  from_visit INTEGER REFERENCES moz_historyvisits(id),
  place_id INTEGER REFERENCES moz_places(id),
  visit_date INTEGER, visit_type INTEGER, session INTEGER, source INTEGER DEFAULT 0 NOT NULL,
  triggeringPlaceId INTEGER REFERENCES moz_places(id)
);
CREATE TABLE moz_inputhistory(
  place_id INTEGER NOT NULL REFERENCES moz_places(id),
  input LONGVARCHAR NOT NULL, use_count INTEGER, PRIMARY KEY (place_id, input));
CREATE TABLE moz_keywords(id INTEGER PRIMARY KEY AUTOINCREMENT, keyword TEXT UNIQUE,
  place_id INTEGER REFERENCES moz_places(id),
  post_data TEXT);
CREATE TABLE moz_bookmarks(id INTEGER PRIMARY KEY, type INTEGER,
  fk INTEGER DEFAULT NULL REFERENCES moz_places(id),
  parent INTEGER REFERENCES moz_bookmarks(id),
  position INTEGER, title LONGVARCHAR,
  keyword_id INTEGER REFERENCES moz_keywords(id),
  folder_type TEXT, dateAdded INTEGER, lastModified INTEGER, guid TEXT,
  syncStatus INTEGER NOT NULL DEFAULT 0, syncChangeCounter INTEGER NOT NULL DEFAULT 1);
CREATE TABLE moz_bookmarks_deleted(guid TEXT PRIMARY KEY, dateRemoved INTEGER NOT NULL DEFAULT 0);
CREATE TABLE moz_anno_attributes(id INTEGER PRIMARY KEY, name VARCHAR(32) UNIQUE NOT NULL);
CREATE TABLE moz_annos(id INTEGER PRIMARY KEY,
  place_id INTEGER NOT NULL REFERENCES moz_places(id),
  anno_attribute_id INTEGER REFERENCES moz_anno_attributes(id),
  content LONGVARCHAR, flags INTEGER DEFAULT 0, expiration INTEGER DEFAULT 0,
  type INTEGER DEFAULT 0, dateAdded INTEGER DEFAULT 0, lastModified INTEGER DEFAULT 0);
CREATE TABLE moz_items_annos(id INTEGER PRIMARY KEY,
  item_id INTEGER NOT NULL REFERENCES moz_bookmarks(id),
  anno_attribute_id INTEGER REFERENCES moz_anno_attributes(id),
  content LONGVARCHAR, flags INTEGER DEFAULT 0, expiration INTEGER DEFAULT 0);
CREATE TABLE moz_meta(key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE moz_places_metadata(id INTEGER PRIMARY KEY,
  place_id INTEGER NOT NULL REFERENCES moz_places(id) ON DELETE CASCADE,
  referrer_place_id INTEGER REFERENCES moz_places(id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL DEFAULT 0,
  total_view_time INTEGER NOT NULL DEFAULT 0, typing_time INTEGER NOT NULL DEFAULT 0,
  document_type INTEGER NOT NULL DEFAULT 0,
  search_query_id INTEGER REFERENCES moz_places_metadata_search_queries(id) ON DELETE CASCADE
);
CREATE TABLE moz_places_metadata_search_queries(id INTEGER PRIMARY KEY, terms TEXT NOT NULL UNIQUE);
CREATE TABLE moz_previews_tombstones(hash TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX moz_historyvisits_placedateindex ON moz_historyvisits(place_id, visit_date);
CREATE INDEX moz_historyvisits_fromindex ON moz_historyvisits(from_visit);
CREATE INDEX moz_bookmarks_itemindex ON moz_bookmarks(fk, type);
CREATE INDEX moz_bookmarks_parentindex ON moz_bookmarks(parent, position);
CREATE UNIQUE INDEX moz_places_guid ON moz_places(guid);
CREATE UNIQUE INDEX moz_bookmarks_guid ON moz_bookmarks(guid);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 3000)
  SELECT i FROM n;
INSERT INTO moz_origins SELECT i, 'https://', 'host' || i || '.example', 100 FROM n WHERE i <= 120;
INSERT INTO moz_places SELECT i, 'https://host' || (i % 120 + 1) || '.example/' || i, 'Page ' || i,
  'elpmaxe.', i % 9, 0, 0, 100, 1700000000000000 + i, substr(hex(randomblob(8)), 1, 12), 0,
  abs(random()) % 281474976710656, NULL, NULL, NULL, i % 120 + 1, 0 FROM n WHERE i <= 900;
INSERT INTO moz_historyvisits SELECT i, CASE WHEN i % 3 = 0 THEN i - 1 ELSE 0 END, i % 900 + 1,
  1700000000000000 + i * 1000, i % 7 + 1, 0, 0, CASE WHEN i % 50 = 0 THEN i % 900 + 1 END FROM n;
INSERT INTO moz_inputhistory SELECT i * 3, 'ho', 1 FROM n WHERE i <= 40;
INSERT INTO moz_keywords SELECT i, 'kw' || i, i * 7, NULL FROM n WHERE i <= 5;
INSERT INTO moz_bookmarks VALUES(1, 2, NULL, 0, 0, '', NULL, NULL, 0, 0, 'root________', 1, 1),
  (2, 2, NULL, 1, 0, 'menu', NULL, NULL, 0, 0, 'menu________', 1, 1),
  (3, 2, NULL, 1, 1, 'toolbar', NULL, NULL, 0, 0, 'toolbar_____', 1, 1);
INSERT INTO moz_bookmarks SELECT i + 3, 1, i * 2, i % 2 + 2, i, 'Mark ' || i, NULL, NULL, 1, 1,
  substr(hex(randomblob(8)), 1, 12), 1, 1 FROM n WHERE i <= 200;
INSERT INTO moz_anno_attributes VALUES(1, 'downloads/destinationFileURI'), (2, 'downloads/metaData');
INSERT INTO moz_annos SELECT i, i * 5, i % 2 + 1, 'x', 0, 4, 3, 0, 0 FROM n WHERE i <= 60;
INSERT INTO moz_places_metadata_search_queries SELECT i, 'query ' || i FROM n WHERE i <= 30;
INSERT INTO moz_places_metadata SELECT i, i % 900 + 1, CASE WHEN i % 4 = 0 THEN i % 800 + 1 END,
  1700000000000, 1700000000000, 100, 5, 0, CASE WHEN i % 9 = 0 THEN i % 30 + 1 END
  FROM n WHERE i <= 400;
INSERT INTO moz_meta VALUES('sync/bookmarks/wipeRemote', 0);
