"""Posts share photos, by a column and by a list together."""

import json


class Posts:
    def post(self):
        return self.first + self.random.randrange(400)

    def slug(self):
        return None if self.chance(0.5) else f"{self.number}-{self.random.randrange(250)}"

    def photo(self):
        return f"p{self.random.randrange(800)}"

    def body(self):
        """With the photos in it."""
        photos = [self.photo() for _ in range(self.random.randrange(4))]
        if self.chance(0.1):
            photo = self.photo()
            return json.dumps({"photoIds": photo}), [photo]
        if self.chance(0.1):
            return self.pick(None, "{}", "not JSON", '{"photoIds": null}'), []
        return json.dumps({"photoIds": photos + photos[:1] + [None]}), photos

    def put_post(self):
        photo = self.photo() if self.chance(0.7) else None
        body, photos = self.body()
        sql = self.insert() + " INTO post(id, photo_id, body, slug) VALUES(?, ?, ?, ?)"
        if self.chance(0.4):
            sql = (
                "INSERT INTO post(id, photo_id, body, slug) VALUES(?, ?, ?, ?) "
                f"ON CONFLICT({self.pick('id', 'slug')}) "
                "DO UPDATE SET photo_id = excluded.photo_id, body = excluded.body")
        self.write_both(sql, self.post(), photo, body, self.slug())
        self.need_photos([photo] + photos)

    def point_post(self):
        if self.chance(0.5):
            photo = self.photo()
            sql = "UPDATE OR REPLACE post SET photo_id = ?, slug = ? WHERE id = ?"
            if self.write_both(sql, photo, self.slug(), self.post()):
                self.need_photos([photo])
        else:
            body, photos = self.body()
            if self.write_both("UPDATE post SET body = ? WHERE id = ?", body, self.post()):
                self.need_photos(photos)

    def delete_post(self):
        if self.chance(0.9):
            self.write_both("DELETE FROM post WHERE id = ?", self.post())
        else:
            self.write_both(
                "DELETE FROM post WHERE photo_id = ? AND id BETWEEN ? AND ?",
                self.photo(), self.first, self.first + 399)

    def rekey_post(self):
        verb = self.pick("UPDATE", "UPDATE OR REPLACE")
        self.write_both(f"{verb} post SET id = ? WHERE id = ?", self.post(), self.post())

    def need_photos(self, photos):
        """The reference is there already: what is made here is never without one."""
        for photo in photos:
            if photo is None:
                continue
            if self.chance(0.5):
                self.write("INSERT OR IGNORE INTO photo(id) VALUES(?)", photo)
            elif not self.store.execute("SELECT 1 FROM photo WHERE id = ?", [photo]).fetchone():
                self.write("INSERT INTO photo(id) VALUES(?)", photo)
