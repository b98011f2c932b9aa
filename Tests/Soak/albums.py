"""Albums and artists that come and go, in every way that there is."""


class Albums:
    def artist(self):
        return self.random.randrange(1, 6) if self.chance(0.5) else self.churned_artist()

    def churned_artist(self):
        return self.random.randrange(100, 130)

    def cover(self):
        return self.random.randrange(60)

    def title(self):
        return self.pick(None, f"t{self.random.randrange(200)}")

    def put_album(self):
        """With a song: an album that never had one is nobody's business."""
        album = self.churned_album()
        sql = (
            self.insert() + " INTO album(id, title, artist_id, cover_id) VALUES(?, ?, "
            "(SELECT id FROM artist WHERE id = ?), (SELECT id FROM cover WHERE id = ?))")
        if self.chance(0.3):
            sql = sql.replace("OR REPLACE", "").replace("REPLACE", "INSERT") + (
                " ON CONFLICT(title) DO UPDATE "
                "SET artist_id = excluded.artist_id, cover_id = excluded.cover_id")
        self.write(sql, album, self.title(), self.artist(), self.cover())
        song = self.pooled_song()
        count = self.write(
            "INSERT OR REPLACE INTO song(id, album_id) SELECT ?, id FROM album WHERE id = ?",
            song, album)
        if count:
            self.expect("DELETE FROM song WHERE id = ?", song)

    def delete_album(self):
        if self.chance(0.7):
            self.write("DELETE FROM album WHERE id = ?", self.churned_album())
        else:
            self.write("DELETE FROM album WHERE artist_id = ?", self.churned_artist())

    def rekey_album(self):
        """Some forget the songs. Under its new key it never had one then: it may stay."""
        (old, new) = (self.churned_album(), self.churned_album())
        verb = self.pick("UPDATE", "UPDATE OR REPLACE")
        if not self.write(f"{verb} album SET id = ?, loose = 1 WHERE id = ?", new, old):
            return
        if self.chance(0.5):
            count = self.write("UPDATE song SET album_id = ? WHERE album_id = ?", new, old)
            if count:
                self.write("UPDATE album SET loose = 0 WHERE id = ?", new)

    def put_artist(self):
        (artist, name) = (self.churned_artist(), f"a{self.random.randrange(40)}")
        if self.chance(0.5):
            self.write(self.insert() + " INTO artist VALUES(?, ?)", artist, name)
        else:
            conflict = self.pick("id", "name")
            self.write(
                f"INSERT INTO artist VALUES(?, ?) ON CONFLICT({conflict}) DO NOTHING", artist, name)

    def delete_artist(self):
        self.write("DELETE FROM artist WHERE id = ?", self.churned_artist())

    def rekey_artist(self):
        verb = self.pick("UPDATE OR IGNORE", "UPDATE OR REPLACE")
        self.write(
            f"{verb} artist SET id = ? WHERE id = ?", self.churned_artist(), self.churned_artist())

    def put_cover(self):
        self.write("INSERT OR IGNORE INTO cover VALUES(?)", self.cover())

    def delete_cover(self):
        self.write("DELETE FROM cover WHERE id = ?", self.cover())

    # Nothing ever refers to these.

    def put_loose(self):
        key = self.first + self.random.randrange(500)
        if self.chance(0.5):
            self.write("REPLACE INTO photo VALUES(?, 1)", f"loose{key}")
            self.expect("REPLACE INTO photo VALUES(?)", f"loose{key}")
        else:
            self.write(
                "REPLACE INTO album(id, artist_id, loose) VALUES(?, ?, 1)", key,
                self.pick(None, 1, 2, 3, 4, 5))
            self.expect("REPLACE INTO album VALUES(?)", key)

    def delete_loose(self):
        key = self.first + self.random.randrange(500)
        self.write_both("DELETE FROM photo WHERE id = ?", f"loose{key}")
        self.write_both("DELETE FROM album WHERE id = ?", key)
