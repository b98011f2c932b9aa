PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO artist VALUES(3,'Billie');
INSERT INTO artist VALUES(4,'Etta');
CREATE TABLE album(id INTEGER PRIMARY KEY, artist_id INTEGER, title TEXT);
INSERT INTO album VALUES(21,2,'held');
INSERT INTO album VALUES(31,3,'protected');
INSERT INTO album VALUES(41,4,'of a job');
CREATE TABLE song(id INTEGER PRIMARY KEY, album_id INTEGER, title TEXT);
INSERT INTO song VALUES(211,21,'a');
INSERT INTO song VALUES(212,21,'b');
INSERT INTO song VALUES(213,21,'c');
INSERT INTO song VALUES(214,21,'d');
INSERT INTO song VALUES(215,21,'e');
INSERT INTO song VALUES(216,21,'f');
INSERT INTO song VALUES(311,31,'g');
INSERT INTO song VALUES(411,41,'h');
INSERT INTO song VALUES(412,41,'i');
INSERT INTO song VALUES(413,41,'j');
INSERT INTO song VALUES(414,41,'k');
INSERT INTO song VALUES(415,41,'l');
INSERT INTO song VALUES(416,41,'m');
INSERT INTO song VALUES(511,51,'n');
CREATE TABLE cascade_meta(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO cascade_meta VALUES('clock.last',1796090725003);
INSERT INTO cascade_meta VALUES('journal.read.cascade',1);
INSERT INTO cascade_meta VALUES('journal.read.refcount',1);
INSERT INTO cascade_meta VALUES('last_plan',2);
INSERT INTO cascade_meta VALUES('next_batch',6);
INSERT INTO cascade_meta VALUES('next_node_id',3);
INSERT INTO cascade_meta VALUES('partly_bound',0);
INSERT INTO cascade_meta VALUES('rules_seen',2);
INSERT INTO cascade_meta VALUES('sweep.last.cascade',1796090724967);
INSERT INTO cascade_meta VALUES('sweep.outcome.cascade',35);
INSERT INTO cascade_meta VALUES('sweep.scheduled_since.trash',1796090724796);
INSERT INTO cascade_meta VALUES('table_references',-2082265722463808400);
INSERT INTO cascade_meta VALUES('triggers',6455789914041595589);
INSERT INTO cascade_meta VALUES('version',13);
CREATE TABLE cascade_part(
  type TEXT NOT NULL,
  pattern TEXT NOT NULL,
  PRIMARY KEY(type, pattern)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_part VALUES('index','cascade_index_*(*)');
INSERT INTO cascade_part VALUES('table','cascade_candidate');
INSERT INTO cascade_part VALUES('table','cascade_collection');
INSERT INTO cascade_part VALUES('table','cascade_dangling_reference');
INSERT INTO cascade_part VALUES('table','cascade_deleted');
INSERT INTO cascade_part VALUES('table','cascade_deleted_part');
INSERT INTO cascade_part VALUES('table','cascade_displaced');
INSERT INTO cascade_part VALUES('table','cascade_edge');
INSERT INTO cascade_part VALUES('table','cascade_ended');
INSERT INTO cascade_part VALUES('table','cascade_given_up');
INSERT INTO cascade_part VALUES('table','cascade_hold_window');
INSERT INTO cascade_part VALUES('table','cascade_job');
INSERT INTO cascade_part VALUES('table','cascade_journal');
INSERT INTO cascade_part VALUES('table','cascade_lease');
INSERT INTO cascade_part VALUES('table','cascade_ledger');
INSERT INTO cascade_part VALUES('table','cascade_list_write');
INSERT INTO cascade_part VALUES('table','cascade_loose');
INSERT INTO cascade_part VALUES('table','cascade_mark');
INSERT INTO cascade_part VALUES('table','cascade_marked');
INSERT INTO cascade_part VALUES('table','cascade_meta');
INSERT INTO cascade_part VALUES('table','cascade_muted');
INSERT INTO cascade_part VALUES('table','cascade_name');
INSERT INTO cascade_part VALUES('table','cascade_node');
INSERT INTO cascade_part VALUES('table','cascade_notice');
INSERT INTO cascade_part VALUES('table','cascade_part');
INSERT INTO cascade_part VALUES('table','cascade_plan');
INSERT INTO cascade_part VALUES('table','cascade_plan_rows');
INSERT INTO cascade_part VALUES('table','cascade_plan_used');
INSERT INTO cascade_part VALUES('table','cascade_protected');
INSERT INTO cascade_part VALUES('table','cascade_protection');
INSERT INTO cascade_part VALUES('table','cascade_quiet');
INSERT INTO cascade_part VALUES('table','cascade_released_file');
INSERT INTO cascade_part VALUES('table','cascade_shape');
INSERT INTO cascade_part VALUES('table','cascade_trash');
INSERT INTO cascade_part VALUES('table','cascade_trash_edge');
INSERT INTO cascade_part VALUES('table','cascade_trash_file');
INSERT INTO cascade_part VALUES('table','cascade_trash_layout');
INSERT INTO cascade_part VALUES('table','cascade_trash_node');
INSERT INTO cascade_part VALUES('table','cascade_verdict');
INSERT INTO cascade_part VALUES('table','cascade_watch');
INSERT INTO cascade_part VALUES('table','cascade_written');
INSERT INTO cascade_part VALUES('trigger','cascade_arrive_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_arrive_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_arrive_key_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_arrive_key_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_delete_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_delete_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_delete_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_delete_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_displace_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_displace_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_displaced_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_displaced_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_gone_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_gone_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_mark_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_mark_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_rename_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_rename_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_renamed_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_renamed_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_replace_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_replace_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_replaced_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_deny_replaced_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_displace_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_displace_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_displaced_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_displaced_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_list_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_list_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_mark_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_mark_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_relist_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_relist_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_replace_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_replace_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_replaced_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_replaced_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_update_[0-9]*_*');
INSERT INTO cascade_part VALUES('trigger','cascade_update_join_[0-9]*_*');
INSERT INTO cascade_part VALUES('view','cascade_object');
INSERT INTO cascade_part VALUES('view','cascade_stored_edge');
CREATE TABLE cascade_collection(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  place TEXT) STRICT;
INSERT INTO cascade_collection VALUES(1,'albums','["album","id"]');
INSERT INTO cascade_collection VALUES(2,'artists','["artist","id"]');
INSERT INTO cascade_collection VALUES(3,'songs','["song","id"]');
INSERT INTO cascade_collection VALUES(4,'notes',NULL);
CREATE TABLE cascade_name(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO cascade_name VALUES(1,'artist');
INSERT INTO cascade_name VALUES(2,'album');
INSERT INTO cascade_name VALUES(3,'about');
CREATE TABLE cascade_node(
  id INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  key ANY NOT NULL,
  type TEXT,
  value TEXT,
  UNIQUE(collection, key)) STRICT;
INSERT INTO cascade_node VALUES(1,4,'n1',NULL,'{ "text": "of a song" }');
CREATE TABLE cascade_edge(
  source INTEGER NOT NULL,
  name INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  rules INTEGER NOT NULL,
  born INTEGER NOT NULL,
  PRIMARY KEY(source, name, destination, origin)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_dangling_reference(
  collection INTEGER NOT NULL,
  key ANY NOT NULL,
  source INTEGER NOT NULL,
  name INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  rules INTEGER NOT NULL,
  PRIMARY KEY(collection, key, source, name, origin)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_ledger(
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  part INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  author TEXT,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  line INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  edges_added INTEGER NOT NULL DEFAULT 0,
  edges_removed INTEGER NOT NULL DEFAULT 0,
  notices INTEGER NOT NULL DEFAULT 0,
  passed_over INTEGER NOT NULL DEFAULT 0,
  undone_at INTEGER,
  undone_by TEXT,
  origin INTEGER,
  UNIQUE(id, part)) STRICT;
INSERT INTO cascade_ledger VALUES(1,'first',0,-6552231969705155779,'story',1796090724834,'applied',0,0,1,0,0,0,NULL,NULL,NULL);
INSERT INTO cascade_ledger VALUES(2,'sweep-2',-1,0,'sweep',1796090724846,'applied',0,4,0,1,1,0,NULL,NULL,NULL);
INSERT INTO cascade_ledger VALUES(3,'sweep-3',-1,0,'sweep',1796090724873,'applied',0,3,0,0,0,0,NULL,NULL,NULL);
INSERT INTO cascade_ledger VALUES(4,'protect-4',-4,0,'uid 0',1796090724896,'applied',0,0,0,0,0,0,NULL,NULL,NULL);
INSERT INTO cascade_ledger VALUES(5,'sweep-5',-1,0,'sweep',1796090724979,'applied',0,1,0,0,0,0,NULL,NULL,NULL);
CREATE TABLE cascade_notice(
  id INTEGER PRIMARY KEY,
  reason TEXT NOT NULL,
  receiver_collection INTEGER NOT NULL, receiver_key ANY NOT NULL,
  name INTEGER NOT NULL,
  source_collection INTEGER NOT NULL, source_key ANY NOT NULL,
  destination_collection INTEGER NOT NULL, destination_key ANY NOT NULL,
  rules INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  receiver_deleted INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO cascade_notice VALUES(1,'destinationDeleted',4,'n1',3,4,'n1',3,111,2,0,2,0);
CREATE TABLE cascade_plan(
  plan INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  file TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  approved INTEGER NOT NULL DEFAULT 0,
  value TEXT,
  referring INTEGER,
  owns INTEGER NOT NULL DEFAULT 0,
  by_collection TEXT,
  spent INTEGER NOT NULL DEFAULT 0,
  is_open INTEGER NOT NULL DEFAULT 0,
  own_end INTEGER,
  ended INTEGER,
  given_up INTEGER NOT NULL DEFAULT 0,
  restored INTEGER NOT NULL DEFAULT 0,
  at INTEGER,
  UNIQUE(id, checksum)) STRICT;
INSERT INTO cascade_plan VALUES(1,'/job 1','/job 1',0,8,0,NULL,NULL,0,'{"albums":1,"artists":1,"songs":6}',0,0,NULL,NULL,0,0,1796090724941);
INSERT INTO cascade_plan VALUES(2,'','/cascade refcount',2,7,0,NULL,0,1,'{"albums":1,"songs":6}',0,0,0,NULL,0,0,1796090724968);
CREATE TABLE cascade_plan_rows(
  low INTEGER PRIMARY KEY,
  high INTEGER NOT NULL,
  plan INTEGER NOT NULL,
  hides INTEGER NOT NULL DEFAULT 1) STRICT;
INSERT INTO cascade_plan_rows VALUES(0,1,2,1);
CREATE TABLE cascade_plan_used(
  collection INTEGER NOT NULL,
  key ANY NOT NULL,
  gone INTEGER,
  arrived INTEGER,
  PRIMARY KEY(collection, key)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_plan_used VALUES(2,6,2,NULL);
CREATE TABLE cascade_hold_window(
  slot INTEGER NOT NULL,
  collection TEXT NOT NULL,
  at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(slot, collection)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_given_up(
  collection INTEGER NOT NULL, key ANY NOT NULL,
  name INTEGER NOT NULL,
  via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
  rule INTEGER NOT NULL,
  PRIMARY KEY(collection, key, name, via_collection, via_key)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_job(
  job INTEGER PRIMARY KEY,
  state TEXT NOT NULL,
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  expected INTEGER,
  is_partial INTEGER NOT NULL,
  approved INTEGER,
  batch INTEGER,
  plan INTEGER,
  deleted INTEGER NOT NULL DEFAULT 0,
  total INTEGER,
  by_collection TEXT NOT NULL DEFAULT '{}',
  blocked TEXT NOT NULL DEFAULT '[]',
  standing INTEGER) STRICT;
INSERT INTO cascade_job VALUES(1,'held','{"nodes":[["artists",4]]}','uid 0',1796090724927,NULL,0,NULL,NULL,1,0,8,'{}','[]',NULL);
CREATE TABLE cascade_protection(
  protection INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL, key ANY NOT NULL,
  node TEXT NOT NULL,
  reason TEXT NOT NULL,
  author TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,
  UNIQUE(collection, key)) STRICT;
INSERT INTO cascade_protection VALUES(1,2,3,'artists/3','case 7','uid 0',1796090724896,NULL);
CREATE TABLE cascade_protected(
  collection INTEGER NOT NULL, key ANY NOT NULL,
  protection INTEGER NOT NULL,
  PRIMARY KEY(collection, key, protection)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_protected VALUES(1,31,1);
INSERT INTO cascade_protected VALUES(2,3,1);
INSERT INTO cascade_protected VALUES(3,311,1);
CREATE TABLE cascade_mark(seq INTEGER PRIMARY KEY, collection, key, marked, old);
CREATE TABLE cascade_marked(
  collection INTEGER NOT NULL, key ANY NOT NULL,
  via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
  name INTEGER NOT NULL,
  rule INTEGER NOT NULL,
  batch INTEGER,
  at INTEGER NOT NULL,
  old TEXT,
  PRIMARY KEY(collection, key, rule, name, via_collection, via_key)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_verdict(
  name BLOB PRIMARY KEY,
  fingerprint INTEGER NOT NULL,
  reasons TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_released_file(
  id INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL,
  collection INTEGER NOT NULL,
  path TEXT NOT NULL,
  at INTEGER) STRICT;
CREATE TABLE cascade_trash(
  batch INTEGER NOT NULL,
  id INTEGER NOT NULL,
  part INTEGER NOT NULL,
  layout INTEGER NOT NULL,
  via INTEGER,
  name INTEGER,
  rule INTEGER,
  c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15,
  PRIMARY KEY(batch, id, part)) WITHOUT ROWID;
INSERT INTO cascade_trash VALUES(0,1,0,8970962663941228448,0,NULL,NULL,2,'Ella',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(2,-70368744177552,0,4,-35184372088821,2,4,112,11,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(2,-35184372088821,0,2,4611686018427387905,1,4,11,1,'swept',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(2,2,0,4,-35184372088821,2,4,111,11,'Feeling Good',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(2,4611686018427387905,0,3,NULL,NULL,0,1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(2,9223372036854775806,0,1,0,NULL,NULL,1,'Nina',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(3,-70368744177152,0,4,-35184372088781,2,4,512,51,'o',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(3,-35184372088781,0,2,4611686018427387905,1,4,51,5,'leased',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(3,4611686018427387905,0,3,NULL,NULL,0,5,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(3,9223372036854775806,0,1,0,NULL,NULL,5,'Sarah',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(5,4611686018427387905,0,2,NULL,NULL,0,6,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO cascade_trash VALUES(5,9223372036854775806,0,1,0,NULL,NULL,6,'Dinah',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE cascade_trash_layout(
  batch INTEGER NOT NULL,
  layout INTEGER NOT NULL,
  kind TEXT NOT NULL,
  collection INTEGER,
  subject TEXT NOT NULL,
  columns TEXT NOT NULL,
  keys INTEGER NOT NULL,
  count INTEGER NOT NULL,
  remaining INTEGER NOT NULL,
  types TEXT NOT NULL,
  PRIMARY KEY(batch, layout)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_trash_layout VALUES(0,2562418480853821673,'row',1,'album','["id","artist_id","title"]',1,0,0,'["INTEGER","INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(0,7394114345675723346,'row',3,'song','["id","album_id","title"]',1,0,0,'["INTEGER","INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(0,8970962663941228448,'row',2,'artist','["id","name"]',1,0,0,'["INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(2,1,'row',2,'artist','["id","name"]',1,1,1,'["INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(2,2,'row',1,'album','["id","artist_id","title"]',1,1,1,'["INTEGER","INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(2,3,'name',2,'','[]',1,1,0,'[]');
INSERT INTO cascade_trash_layout VALUES(2,4,'row',3,'song','["id","album_id","title"]',1,2,2,'["INTEGER","INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(2,5,'edges',NULL,'','[]',1,1,1,'[]');
INSERT INTO cascade_trash_layout VALUES(3,1,'row',2,'artist','["id","name"]',1,1,1,'["INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(3,2,'row',1,'album','["id","artist_id","title"]',1,1,1,'["INTEGER","INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(3,3,'name',2,'','[]',1,1,0,'[]');
INSERT INTO cascade_trash_layout VALUES(3,4,'row',3,'song','["id","album_id","title"]',1,1,1,'["INTEGER","INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(5,1,'row',2,'artist','["id","name"]',1,1,1,'["INTEGER","TEXT"]');
INSERT INTO cascade_trash_layout VALUES(5,2,'name',2,'','[]',1,1,0,'[]');
CREATE TABLE cascade_ended(
  collection INTEGER NOT NULL,
  key ANY NOT NULL,
  batch INTEGER NOT NULL,
  PRIMARY KEY(collection, key)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_shape(
  subject TEXT PRIMARY KEY,
  columns TEXT NOT NULL,
  trigger TEXT,
  is_migrating INTEGER NOT NULL DEFAULT 0,
  schema_version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO cascade_shape VALUES('album','[["id","INTEGER"],["artist_id","INTEGER"],["title","TEXT"]]','cascade_delete_1_albums',0,78);
INSERT INTO cascade_shape VALUES('artist','[["id","INTEGER"],["name","TEXT"]]','cascade_delete_2_artists',0,78);
INSERT INTO cascade_shape VALUES('song','[["id","INTEGER"],["album_id","INTEGER"],["title","TEXT"]]','cascade_delete_3_songs',0,78);
CREATE TABLE cascade_trash_node(
  batch INTEGER NOT NULL,
  id INTEGER NOT NULL,
  collection INTEGER NOT NULL,
  key ANY NOT NULL,
  PRIMARY KEY(batch, id)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_trash_node VALUES(2,1,4,'n1');
INSERT INTO cascade_trash_node VALUES(2,2,3,111);
CREATE TABLE cascade_trash_edge(
  batch INTEGER NOT NULL,
  source INTEGER NOT NULL,
  name INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  rules INTEGER NOT NULL,
  born INTEGER NOT NULL,
  PRIMARY KEY(batch, source, name, destination, origin)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_trash_edge VALUES(2,1,3,2,0,2,1);
CREATE TABLE cascade_trash_file(
  batch INTEGER NOT NULL,
  collection INTEGER NOT NULL,
  path TEXT NOT NULL,
  fate INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(batch, collection, path)) STRICT, WITHOUT ROWID;
CREATE TABLE cascade_deleted(
  batch INTEGER NOT NULL,
  part INTEGER NOT NULL,
  place INTEGER NOT NULL,
  collection INTEGER NOT NULL,
  id INTEGER NOT NULL,
  key ANY,
  PRIMARY KEY(batch, part, place)) STRICT, WITHOUT ROWID;
INSERT INTO cascade_deleted VALUES(2,0,1,2,9223372036854775806,1);
INSERT INTO cascade_deleted VALUES(2,1,2,1,-35184372088821,11);
INSERT INTO cascade_deleted VALUES(2,1,3,3,-70368744177552,112);
INSERT INTO cascade_deleted VALUES(2,1,4,3,2,111);
INSERT INTO cascade_deleted VALUES(3,0,1,2,9223372036854775806,5);
INSERT INTO cascade_deleted VALUES(3,1,2,1,-35184372088781,51);
INSERT INTO cascade_deleted VALUES(3,1,3,3,-70368744177152,512);
INSERT INTO cascade_deleted VALUES(5,0,1,2,9223372036854775806,6);
CREATE TABLE cascade_deleted_part(
  number INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL,
  part INTEGER NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  author TEXT) STRICT;
INSERT INTO cascade_deleted_part VALUES(1,2,0,1,1,1796090724846,-1,'sweep');
INSERT INTO cascade_deleted_part VALUES(2,2,1,2,4,1796090724846,-1,'sweep');
INSERT INTO cascade_deleted_part VALUES(5,3,0,1,1,1796090724873,-1,'sweep');
INSERT INTO cascade_deleted_part VALUES(6,3,1,2,3,1796090724873,-1,'sweep');
INSERT INTO cascade_deleted_part VALUES(8,5,0,1,1,1796090724979,-1,'sweep');
CREATE TABLE cascade_displaced(collection, key, message);
CREATE TABLE cascade_journal(seq INTEGER PRIMARY KEY, what, key, gone, a, b, c, d);
INSERT INTO cascade_journal VALUES(1,2,2,1,NULL,NULL,NULL,NULL);
CREATE TABLE cascade_watch(
  what INTEGER PRIMARY KEY,
  meaning TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO cascade_watch VALUES(1,'{"rows":1,"values":[],"edges":[]}');
INSERT INTO cascade_watch VALUES(2,'{"rows":2,"values":[],"edges":[]}');
INSERT INTO cascade_watch VALUES(3,'{"rows":3,"values":[],"edges":[]}');
CREATE TABLE cascade_list_write(seq INTEGER PRIMARY KEY, collection, key);
CREATE TABLE cascade_muted(id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE cascade_lease(
  id INTEGER PRIMARY KEY,
  collection TEXT NOT NULL,
  key,
  owner TEXT,
  expires INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER) + 900),
  connection INTEGER,
  CONSTRAINT "expires is in seconds since 1970"
    CHECK(typeof(expires) IN ('integer', 'real') AND expires < 100000000000));
INSERT INTO cascade_lease VALUES(1,'songs','511','story',4102444800,NULL);
CREATE TABLE cascade_candidate(
  id INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL, key ANY NOT NULL,
  via_collection INTEGER NOT NULL, via_key ANY NOT NULL,
  name INTEGER NOT NULL,
  rule INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  waits_for INTEGER NOT NULL,
  edges TEXT,
  plan INTEGER,
  UNIQUE(collection, key, rule, name, via_collection, via_key)) STRICT;
INSERT INTO cascade_candidate VALUES(1,3,511,1,51,2,4,0,0,NULL,NULL);
CREATE INDEX album_artist ON album(artist_id);
CREATE INDEX song_album ON song(album_id);
CREATE VIEW cascade_object(collection, key, type, value) AS
SELECT c.name, n.key, n.type, n.value
FROM cascade_node AS n JOIN cascade_collection AS c ON c.id = n.collection
WHERE c.place IS NULL AND c.name NOT GLOB 'cascade_*';
CREATE INDEX cascade_edge_destination
ON cascade_edge(destination, name, source, origin, rules);
CREATE INDEX cascade_edge_name ON cascade_edge(name, source, destination, origin);
CREATE VIEW cascade_stored_edge(
  name, source_collection, source_key, destination_collection, destination_key) AS
SELECT m.name, f.name, s.key, t.name, d.key
FROM cascade_edge AS e JOIN cascade_name AS m ON m.id = e.name
  JOIN cascade_node AS s ON s.id = e.source JOIN cascade_collection AS f ON f.id = s.collection
  JOIN cascade_node AS d ON d.id = e.destination
  JOIN cascade_collection AS t ON t.id = d.collection;
CREATE INDEX cascade_dangling_reference_source ON cascade_dangling_reference(source);
CREATE INDEX cascade_ledger_origin ON cascade_ledger(origin) WHERE origin IS NOT NULL;
CREATE INDEX cascade_notice_receiver ON cascade_notice(receiver_collection, receiver_key);
CREATE INDEX cascade_notice_batch ON cascade_notice(batch);
CREATE INDEX cascade_plan_file ON cascade_plan(file);
CREATE INDEX cascade_given_up_via ON cascade_given_up(via_collection, via_key);
CREATE INDEX cascade_marked_via ON cascade_marked(via_collection, via_key);
CREATE INDEX cascade_marked_batch ON cascade_marked(batch);
CREATE INDEX cascade_trash_layout_collection ON cascade_trash_layout(collection, batch);
CREATE INDEX cascade_trash_edge_list ON cascade_trash_edge(source) WHERE origin = 1;
CREATE INDEX cascade_trash_file_fate ON cascade_trash_file(fate) WHERE fate;
CREATE INDEX cascade_deleted_part_batch ON cascade_deleted_part(batch, part);
CREATE INDEX cascade_journal_gone ON cascade_journal(gone, key) WHERE gone >= 2;
CREATE INDEX cascade_lease_node ON cascade_lease(collection, key);
CREATE INDEX cascade_lease_end ON cascade_lease(expires);
CREATE INDEX cascade_candidate_waits ON cascade_candidate(waits_for);
CREATE TRIGGER "cascade_delete_1_albums" BEFORE DELETE ON "album"
WHEN NOT EXISTS (SELECT 1 FROM cascade_muted WHERE id = 1)
BEGIN
  INSERT INTO cascade_journal(what, key, gone) VALUES(1, OLD."id", 1);
  INSERT OR REPLACE INTO cascade_trash(batch, id, part, layout, via, c0, c1, c2) SELECT 0, last_insert_rowid(), 0, 2562418480853821673, 0, OLD."id", OLD."artist_id", OLD."title" WHERE NOT EXISTS (SELECT 1 FROM cascade_muted);
END;
CREATE TRIGGER "cascade_update_1_albums" AFTER UPDATE OF "id", "rowid", "oid", "_rowid_" ON "album"
WHEN (OLD."id" IS NOT NEW."id" COLLATE BINARY) AND NOT EXISTS (SELECT 1 FROM cascade_muted WHERE id = 1)
BEGIN
  INSERT INTO cascade_journal(what, key, gone) VALUES(1, OLD."id", 1 * (OLD."id" IS NOT NEW."id" COLLATE BINARY));
END;
CREATE TRIGGER "cascade_delete_2_artists" BEFORE DELETE ON "artist"
WHEN NOT EXISTS (SELECT 1 FROM cascade_muted WHERE id = 1)
BEGIN
  INSERT INTO cascade_journal(what, key, gone) VALUES(2, OLD."id", 1);
  INSERT OR REPLACE INTO cascade_trash(batch, id, part, layout, via, c0, c1) SELECT 0, last_insert_rowid(), 0, 8970962663941228448, 0, OLD."id", OLD."name" WHERE NOT EXISTS (SELECT 1 FROM cascade_muted);
END;
CREATE TRIGGER "cascade_update_2_artists" AFTER UPDATE OF "id", "rowid", "oid", "_rowid_" ON "artist"
WHEN (OLD."id" IS NOT NEW."id" COLLATE BINARY) AND NOT EXISTS (SELECT 1 FROM cascade_muted WHERE id = 1)
BEGIN
  INSERT INTO cascade_journal(what, key, gone) VALUES(2, OLD."id", 1 * (OLD."id" IS NOT NEW."id" COLLATE BINARY));
END;
CREATE TRIGGER "cascade_delete_3_songs" BEFORE DELETE ON "song"
WHEN NOT EXISTS (SELECT 1 FROM cascade_muted WHERE id = 1)
BEGIN
  INSERT INTO cascade_journal(what, key, gone) VALUES(3, OLD."id", 1);
  INSERT OR REPLACE INTO cascade_trash(batch, id, part, layout, via, c0, c1, c2) SELECT 0, last_insert_rowid(), 0, 7394114345675723346, 0, OLD."id", OLD."album_id", OLD."title" WHERE NOT EXISTS (SELECT 1 FROM cascade_muted);
END;
CREATE TRIGGER "cascade_update_3_songs" AFTER UPDATE OF "id", "rowid", "oid", "_rowid_" ON "song"
WHEN (OLD."id" IS NOT NEW."id" COLLATE BINARY) AND NOT EXISTS (SELECT 1 FROM cascade_muted WHERE id = 1)
BEGIN
  INSERT INTO cascade_journal(what, key, gone) VALUES(3, OLD."id", 1 * (OLD."id" IS NOT NEW."id" COLLATE BINARY));
END;
CREATE TRIGGER "cascade_deny_delete_0_albums" BEFORE DELETE ON "album"
WHEN (EXISTS (SELECT 1 FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 1 AND p.key = +OLD."id")) AND NOT EXISTS (SELECT 1 FROM cascade_muted)
BEGIN
  SELECT json_extract('{}', (SELECT iif(t.collection = p.collection AND t.key = p.key, 'albums/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected: ' || t.reason, 'albums/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected with ' || t.node || ': ' || t.reason) FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 1 AND p.key = +OLD."id" LIMIT 1));
  SELECT RAISE(ABORT, 'albums: a protected row');
END;
CREATE TRIGGER "cascade_deny_rename_0_albums" AFTER UPDATE OF "id", "rowid", "oid", "_rowid_" ON "album"
WHEN ((OLD."id" IS NOT NEW."id") AND NOT EXISTS (SELECT 1 FROM "album" AS o WHERE o."id" = OLD."id") AND EXISTS (SELECT 1 FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 1 AND p.key = +OLD."id")) AND NOT EXISTS (SELECT 1 FROM cascade_muted)
BEGIN
  SELECT json_extract('{}', (SELECT iif(t.collection = p.collection AND t.key = p.key, 'albums/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected: ' || t.reason, 'albums/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected with ' || t.node || ': ' || t.reason) FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 1 AND p.key = +OLD."id" LIMIT 1));
  SELECT RAISE(ABORT, 'albums: a protected row');
END;
CREATE TRIGGER "cascade_deny_delete_1_artists" BEFORE DELETE ON "artist"
WHEN (EXISTS (SELECT 1 FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 2 AND p.key = +OLD."id")) AND NOT EXISTS (SELECT 1 FROM cascade_muted)
BEGIN
  SELECT json_extract('{}', (SELECT iif(t.collection = p.collection AND t.key = p.key, 'artists/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected: ' || t.reason, 'artists/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected with ' || t.node || ': ' || t.reason) FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 2 AND p.key = +OLD."id" LIMIT 1));
  SELECT RAISE(ABORT, 'artists: a protected row');
END;
CREATE TRIGGER "cascade_deny_rename_1_artists" AFTER UPDATE OF "id", "rowid", "oid", "_rowid_" ON "artist"
WHEN ((OLD."id" IS NOT NEW."id") AND NOT EXISTS (SELECT 1 FROM "artist" AS o WHERE o."id" = OLD."id") AND EXISTS (SELECT 1 FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 2 AND p.key = +OLD."id")) AND NOT EXISTS (SELECT 1 FROM cascade_muted)
BEGIN
  SELECT json_extract('{}', (SELECT iif(t.collection = p.collection AND t.key = p.key, 'artists/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected: ' || t.reason, 'artists/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected with ' || t.node || ': ' || t.reason) FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 2 AND p.key = +OLD."id" LIMIT 1));
  SELECT RAISE(ABORT, 'artists: a protected row');
END;
CREATE TRIGGER "cascade_deny_delete_2_songs" BEFORE DELETE ON "song"
WHEN (EXISTS (SELECT 1 FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 3 AND p.key = +OLD."id")) AND NOT EXISTS (SELECT 1 FROM cascade_muted)
BEGIN
  SELECT json_extract('{}', (SELECT iif(t.collection = p.collection AND t.key = p.key, 'songs/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected: ' || t.reason, 'songs/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected with ' || t.node || ': ' || t.reason) FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 3 AND p.key = +OLD."id" LIMIT 1));
  SELECT RAISE(ABORT, 'songs: a protected row');
END;
CREATE TRIGGER "cascade_deny_rename_2_songs" AFTER UPDATE OF "id", "rowid", "oid", "_rowid_" ON "song"
WHEN ((OLD."id" IS NOT NEW."id") AND NOT EXISTS (SELECT 1 FROM "song" AS o WHERE o."id" = OLD."id") AND EXISTS (SELECT 1 FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 3 AND p.key = +OLD."id")) AND NOT EXISTS (SELECT 1 FROM cascade_muted)
BEGIN
  SELECT json_extract('{}', (SELECT iif(t.collection = p.collection AND t.key = p.key, 'songs/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected: ' || t.reason, 'songs/' || iif(typeof(OLD."id") = 'blob', 'x''' || hex(OLD."id") || '''', coalesce(OLD."id", '')) || ' is protected with ' || t.node || ': ' || t.reason) FROM cascade_protected AS p CROSS JOIN cascade_protection AS t ON t.protection = p.protection
    WHERE p.collection = 3 AND p.key = +OLD."id" LIMIT 1));
  SELECT RAISE(ABORT, 'songs: a protected row');
END;
COMMIT;
PRAGMA schema_version = 78;
