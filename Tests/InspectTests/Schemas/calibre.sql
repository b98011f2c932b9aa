-- calibre 6: metadata.db. It declares nothing; its triggers and its code mean this.
CREATE TABLE authors(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE,
  sort TEXT COLLATE NOCASE, link TEXT NOT NULL DEFAULT '', UNIQUE(name));
CREATE TABLE books(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT 'Unknown',
  sort TEXT COLLATE NOCASE, timestamp TIMESTAMP, pubdate TIMESTAMP,
  series_index REAL NOT NULL DEFAULT 1.0, author_sort TEXT COLLATE NOCASE, isbn TEXT DEFAULT '',
  lccn TEXT DEFAULT '', path TEXT NOT NULL DEFAULT '', flags INTEGER NOT NULL DEFAULT 1, uuid TEXT,
  has_cover BOOL DEFAULT 0, last_modified TIMESTAMP NOT NULL DEFAULT '2000-01-01');
CREATE TABLE books_authors_link(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  author INTEGER NOT NULL REFERENCES authors(id),
  UNIQUE(book, author));
CREATE TABLE languages(id INTEGER PRIMARY KEY, lang_code TEXT NOT NULL COLLATE NOCASE,
  link TEXT NOT NULL DEFAULT '', UNIQUE(lang_code));
CREATE TABLE books_languages_link(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  lang_code INTEGER NOT NULL REFERENCES languages(id),
  item_order INTEGER NOT NULL DEFAULT 0, UNIQUE(book, lang_code));
CREATE TABLE publishers(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE,
  sort TEXT COLLATE NOCASE, UNIQUE(name));
CREATE TABLE books_publishers_link(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  publisher INTEGER NOT NULL REFERENCES publishers(id),
  UNIQUE(book));
CREATE TABLE ratings(id INTEGER PRIMARY KEY, rating INTEGER CHECK(rating > -1 AND rating < 11),
  link TEXT NOT NULL DEFAULT '', UNIQUE(rating));
CREATE TABLE books_ratings_link(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  rating INTEGER NOT NULL REFERENCES ratings(id),
  UNIQUE(book, rating));
CREATE TABLE series(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE,
  sort TEXT COLLATE NOCASE, UNIQUE(name));
CREATE TABLE books_series_link(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  series INTEGER NOT NULL REFERENCES series(id),
  UNIQUE(book));
CREATE TABLE tags(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, UNIQUE(name));
CREATE TABLE books_tags_link(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  tag INTEGER NOT NULL REFERENCES tags(id),
  UNIQUE(book, tag));
CREATE TABLE comments(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  text TEXT NOT NULL COLLATE NOCASE, UNIQUE(book));
CREATE TABLE data(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  format TEXT NOT NULL COLLATE NOCASE, uncompressed_size INTEGER NOT NULL, name TEXT NOT NULL,
  UNIQUE(book, format));
CREATE TABLE identifiers(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  type TEXT NOT NULL DEFAULT 'isbn' COLLATE NOCASE, val TEXT NOT NULL COLLATE NOCASE,
  UNIQUE(book, type));
CREATE TABLE conversion_options(id INTEGER PRIMARY KEY, format TEXT NOT NULL COLLATE NOCASE,
  book INTEGER REFERENCES books(id),
  data BLOB NOT NULL, UNIQUE(format, book));
CREATE TABLE custom_columns(id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL,
  name TEXT NOT NULL, datatype TEXT NOT NULL, mark_for_delete BOOL DEFAULT 0 NOT NULL,
  editable BOOL DEFAULT 1 NOT NULL, display TEXT DEFAULT '{}' NOT NULL,
  is_multiple BOOL DEFAULT 0 NOT NULL, normalized BOOL NOT NULL, UNIQUE(label));
CREATE TABLE feeds(id INTEGER PRIMARY KEY, title TEXT NOT NULL, script TEXT NOT NULL,
  UNIQUE(title));
CREATE TABLE library_id(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, UNIQUE(uuid));
CREATE TABLE metadata_dirtied(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  UNIQUE(book));
CREATE TABLE annotations(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  format TEXT NOT NULL COLLATE NOCASE, user_type TEXT NOT NULL, user TEXT NOT NULL,
  timestamp REAL NOT NULL, annot_id TEXT NOT NULL, annot_type TEXT NOT NULL,
  annot_data TEXT NOT NULL, searchable_text TEXT NOT NULL);
CREATE TABLE last_read_positions(id INTEGER PRIMARY KEY,
  book INTEGER NOT NULL REFERENCES books(id),
  format TEXT NOT NULL COLLATE NOCASE, user TEXT NOT NULL, device TEXT NOT NULL, cfi TEXT NOT NULL,
  epoch REAL NOT NULL, pos_frac REAL NOT NULL DEFAULT 0);
CREATE TABLE preferences(id INTEGER PRIMARY KEY, key TEXT NOT NULL, val TEXT NOT NULL, UNIQUE(key));
CREATE INDEX books_authors_link_aidx ON books_authors_link(author);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 800)
  SELECT i FROM n;
INSERT INTO authors SELECT i, 'Author ' || i, 'Author ' || i, '' FROM n WHERE i <= 150;
INSERT INTO books(id, title, sort, author_sort, path, uuid)
  SELECT i, 'Book ' || i, 'Book ' || i, 'Author ' || (i % 150 + 1), 'Author/Book ' || i,
  lower(hex(randomblob(16))) FROM n WHERE i <= 400;
INSERT INTO books_authors_link SELECT i, i, i % 150 + 1 FROM n WHERE i <= 400;
INSERT INTO languages VALUES(1, 'eng', ''), (2, 'deu', '');
INSERT INTO books_languages_link SELECT i, i, i % 2 + 1, 0 FROM n WHERE i <= 400;
INSERT INTO publishers SELECT i, 'Publisher ' || i, NULL FROM n WHERE i <= 20;
INSERT INTO books_publishers_link SELECT i, i, i % 20 + 1 FROM n WHERE i <= 300;
INSERT INTO ratings SELECT i, i * 2, '' FROM n WHERE i <= 5;
INSERT INTO books_ratings_link SELECT i, i, i % 5 + 1 FROM n WHERE i <= 100;
INSERT INTO series SELECT i, 'Series ' || i, NULL FROM n WHERE i <= 15;
INSERT INTO books_series_link SELECT i, i * 2, i % 15 + 1 FROM n WHERE i <= 120;
INSERT INTO tags SELECT i, 'Tag ' || i FROM n WHERE i <= 40;
INSERT INTO books_tags_link SELECT i, i % 400 + 1, i % 37 + 1 FROM n;
INSERT INTO comments SELECT i, i, '<p>text' FROM n WHERE i <= 350;
INSERT INTO data SELECT i, i, 'EPUB', 500000 + i * 7, 'Book ' || i FROM n WHERE i <= 400;
INSERT INTO identifiers SELECT i, i, 'isbn', '97800000' || i FROM n WHERE i <= 200;
INSERT INTO library_id VALUES(1, '6f6f1b1e-0000-4000-8000-000000000001');
INSERT INTO last_read_positions SELECT i, i, 'EPUB', 'local', 'desk', '/2', 1.7e9, 0.5
  FROM n WHERE i <= 30;
INSERT INTO preferences SELECT i, 'key' || i, '[]' FROM n WHERE i <= 12;
