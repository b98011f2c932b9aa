"""Rails: the dump of the schema has Cascade's tables until Active Record is told to ignore them;
what `dependent` leaves out follows, by foreign keys and polymorphic references."""
import subprocess

from fixture import Store, guide_lines, is_sound

MODELS = """
require "active_record"
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: "rails.db", timeout: 10_000)
ActiveRecord::Migration.verbose = false

class Author < ActiveRecord::Base
  has_many :books
end

class Book < ActiveRecord::Base
  belongs_to :author
  has_many :comments, as: :about
end

class Comment < ActiveRecord::Base
  belongs_to :about, polymorphic: true
end

def add(name)
  Author.create!(name: name).tap do |author|
    3.times do |number|
      author.books.create!(title: "#{name} #{number}").comments.create!(text: "good")
    end
  end
end
"""
SCHEMA = """
ActiveRecord::Schema.define do
  create_table(:authors) { |t| t.string :name }
  create_table(:books) { |t| t.string :title; t.references :author }
  create_table(:comments) { |t| t.text :text; t.references :about, polymorphic: true }
end
"""
DUMP = "ActiveRecord::SchemaDumper.dump"
IGNORE = r"ActiveRecord::SchemaDumper.ignore_tables = [/\Acascade_/]"
WORK = """
20.times do |number|
  author = add("work #{number}")
  Book.transaction { author.books.first.update!(title: "sold"); author.destroy! }
end
"""
BEGIN_IMMEDIATELY = guide_lines("frameworks.md", "ruby", "begin_db_transaction")
MODEL = {
    "collections": {name: {"table": name, "key": "id"} for name in (
        "authors", "books", "comments")},
    "relationships": [
        {"name": "author", "from": "books", "to": "authors", "column": "author_id",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "about", "from": "comments", "column": "about_id", "typeColumn": "about_type",
         "to": {"Book": "books"}, "rules": ["deleteSourceIfDestinationDeleted"]}]}


def ruby(*script):
    done = subprocess.run(["ruby", "-e", "\n".join([MODELS, BEGIN_IMMEDIATELY, *script])], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[:1000]
    return done.stdout


def main():
    ruby(SCHEMA, 'add("ada"); add("ben")')
    plain = ruby(DUMP)
    with Store("rails.db", MODEL) as store:
        assert "cascade_" in ruby(DUMP)
        assert ruby(IGNORE, DUMP) == plain
        store.follow(lambda: ruby('Author.find_by!(name: "ada").destroy!'), nodes=6)
        store.live(lambda: ruby(WORK))
        assert store.command("check").returncode == 0, store.command("check").stdout
        store.detach()
    assert ruby(DUMP) == plain
    assert ruby('add("eve"); puts Comment.all.map { |one| one.about.title }.size').strip() == "6"
    assert is_sound("rails.db")


main()
