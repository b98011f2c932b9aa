"""Songs take their album along with the last of them, and go with it."""


class Songs:
    def pooled_song(self):
        return self.first + self.random.randrange(300)

    def song(self):
        if self.chance(0.5):
            return self.pooled_song()
        return max(self.first + 1_000_000, self.fresh - self.random.randrange(400))

    def new_song(self):
        """A key that was never there."""
        self.fresh += 1
        return self.fresh

    def is_never_again(self, song):
        return song > self.first + 1_000_000

    def steady_album(self):
        return self.random.randrange(1, 61)

    def churned_album(self):
        return self.random.randrange(1000, 1150)

    def put_song(self):
        song = self.new_song() if self.chance(0.5) else self.pooled_song()
        slot = None if self.chance(0.5) else f"{self.number}-{self.random.randrange(100)}"
        sql = self.insert() + " INTO song(id, album_id, slot) "
        if self.chance(0.5):
            album = self.steady_album()
            self.write(sql + "VALUES(?, ?, ?)", song, album, slot)
            self.need_album(album)
            self.expect("DELETE FROM song WHERE id = ? OR slot = ?", song, slot)
            self.expect("INSERT INTO song VALUES(?, ?, ?)", song, album, slot)
        else:
            sql += "SELECT ?, id, ? FROM album WHERE id = ?"
            if self.write(sql, song, slot, self.churned_album()):
                self.expect("DELETE FROM song WHERE id = ? OR slot = ?", song, slot)

    def need_album(self, album):
        self.write(
            "INSERT OR IGNORE INTO album(id, artist_id) VALUES(?, ?)", album,
            self.pick(None, 1, 2, 3, 4, 5))

    def move_song(self):
        if self.chance(0.4):
            return self.churn_song()
        (song, album) = (self.song(), self.steady_album())
        if self.write("UPDATE song SET album_id = ? WHERE id = ?", album, song):
            self.need_album(album)
            slot = self.store.execute("SELECT slot FROM song WHERE id = ?", [song]).fetchone()
            self.expect("REPLACE INTO song VALUES(?, ?, ?)", song, album, *slot)

    def churn_song(self):
        (song, album) = (self.song(), self.churned_album())
        if self.chance(0.1):
            count = self.write("UPDATE song SET album_id = NULL WHERE id = ?", song)
        else:
            count = self.write(
                "UPDATE song SET album_id = ?1 "
                "WHERE id = ?2 AND EXISTS(SELECT 1 FROM album WHERE id = ?1)", album, song)
        if count:
            self.expect("DELETE FROM song WHERE id = ?", song)

    def delete_song(self):
        if self.chance(0.7):
            self.write_both("DELETE FROM song WHERE id = ?", self.song())
        elif self.chance(0.5):
            self.write("DELETE FROM song WHERE album_id = ?", self.churned_album())
        else:
            self.write_both(
                "DELETE FROM song WHERE album_id = ? AND id BETWEEN ? AND ?",
                self.steady_album(), self.first, self.first + 9_999_999)

    def rekey_song(self):
        (old, new) = (self.song(), self.new_song())
        if not self.write_both("UPDATE song SET id = ? WHERE id = ?", new, old):
            return
        if self.is_never_again(old) and self.chance(0.5):
            self.write("UPDATE song_artist SET song_id = ? WHERE song_id = ?", new, old)
            self.expect(
                "INSERT OR IGNORE INTO feature SELECT ?, artist_id FROM feature WHERE song_id = ?",
                new, old)

    def put_feature(self):
        (song, artist) = (self.song(), self.artist())
        count = self.write(
            "INSERT OR IGNORE INTO song_artist "
            "SELECT s.id, a.id FROM song AS s, artist AS a WHERE s.id = ? AND a.id = ?",
            song, artist)
        if count and self.is_never_again(song):
            self.expect("INSERT OR IGNORE INTO feature VALUES(?, ?)", song, artist)

    def delete_feature(self):
        (song, artist) = (self.song(), self.artist())
        self.write("DELETE FROM song_artist WHERE song_id = ? AND artist_id = ?", song, artist)
        self.expect("DELETE FROM feature WHERE song_id = ? AND artist_id = ?", song, artist)
