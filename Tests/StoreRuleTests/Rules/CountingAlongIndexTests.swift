import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeSQLite
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Much of a table of posts goes, with blogs and with the posts that they answer, so that photos
/// lose theirs in many levels, some of them most of a table and some a row. Compared with what SQL
/// says in one query.
@Suite("Counting where much of a table goes")
struct CountingAlongIndexTests {
  private static let schema = """
    CREATE TABLE blog(id INTEGER PRIMARY KEY);
    CREATE TABLE photo(id TEXT PRIMARY KEY COLLATE NOCASE);
    CREATE TABLE post(id INTEGER PRIMARY KEY, blog INTEGER, parent INTEGER, photo TEXT, other TEXT);
    CREATE INDEX post_blog ON post(blog);
    CREATE INDEX post_parent ON post(parent);
    CREATE INDEX post_photo ON post(photo COLLATE NOCASE);
    CREATE INDEX post_other ON post(other COLLATE NOCASE);
    """

  /// `other` may be a second place under the name.
  private static func model(hasOther: Bool) -> String {
    """
    {
      collections: {
        blogs: { table: 'blog', key: 'id' }, photos: { table: 'photo', key: 'id' },
        posts: { table: 'post', key: 'id' },
      },
      relationships: [
        { name: 'blog', from: 'posts', to: 'blogs', column: 'blog',
          rules: ['deleteSourceIfDestinationDeleted'] },
        { name: 'parent', from: 'posts', to: 'posts', column: 'parent',
          rules: ['deleteSourceIfDestinationDeleted'] },
        \(photo("photo"))
        \(hasOther ? photo("other") : "")
      ],
      trash: '0',
    }
    """
  }

  private static func photo(_ column: String) -> String {
    """
    { name: 'photo', from: 'posts', to: 'photos', column: '\(column)',
      rules: ['deleteDestinationIfAllSourcesDeleted'] },
    """
  }

  @Test("What is left is what SQL says", arguments: [false, true], [Int64(0), 500])
  func leaves(hasOther: Bool, few: Int64) throws {
    for seed in 0..<(Histories.isLong ? 60 : 20) as Range<UInt64> {
      var random = Seeded(seed)
      let store = try TestStore(
        model: StoreModel(CountingAlongIndexTests.model(hasOther: hasOther)),
        schema: CountingAlongIndexTests.schema)
      try store.bySQL(rows(hasOther: hasOther, &random))
      _ = try store.writer.sweep([.all], at: 0)
      store.writer.lock.fewNodes = few
      try store.bySQL("CREATE TABLE before AS SELECT * FROM post; \(losses(&random))")
      let expected = try store.texts(CountingAlongIndexTests.staying)
      _ = try store.writer.sweep([.all], at: 1)
      let left = try store.texts(
        "SELECT id FROM photo UNION ALL SELECT id FROM post ORDER BY 1")
      #expect(left == expected, "seed \(seed)")
      #expect(try store.writer.sweep([.all], at: 2).outcome == .nothing, "seed \(seed)")
    }
  }

  /// Few photos and many, spelt in both ways.
  private func rows(hasOther: Bool, _ random: inout Seeded) -> String {
    let photos = Array("abcdefghijkl".prefix(.random(in: 1...12, using: &random)))
    func photo() -> String {
      let letter = photos.randomElement(using: &random)!
      let shown = [letter.lowercased(), letter.uppercased()].randomElement(using: &random)!
      return Int.random(in: 0..<8, using: &random) == 0 ? "NULL" : "'\(shown)'"
    }
    let posts = (1...Int.random(in: 1...40, using: &random)).map { id in
      let parent = Int.random(in: 0..<3, using: &random) == 0 && id > 1
      let blog = parent ? "NULL" : "\(Int.random(in: 1...6, using: &random))"
      let answered = parent ? "\(Int.random(in: 1..<id, using: &random))" : "NULL"
      return "(\(id), \(blog), \(answered), \(photo()), \(hasOther ? photo() : "NULL"))"
    }
    return """
      INSERT INTO blog VALUES(1), (2), (3), (4), (5), (6);
      INSERT INTO photo VALUES\(photos.map { "('\($0)')" }.joined(separator: ", "));
      INSERT INTO post VALUES\(posts.joined(separator: ", "));
      """
  }

  private func losses(_ random: inout Seeded) -> String {
    let blogs = (1...6).shuffled(using: &random).prefix(.random(in: 1...6, using: &random))
    let (gone, moved) = (
      Int.random(in: 1...40, using: &random), Int.random(in: 1...40, using: &random)
    )
    return """
      DELETE FROM blog WHERE id IN (\(blogs.map(String.init).joined(separator: ", ")));
      DELETE FROM post WHERE id = \(gone); UPDATE post SET photo = NULL WHERE id = \(moved);
      """
  }

  /// Posts with what they need, and photos that one of these shows, or that none ever did.
  private static let staying = """
    WITH RECURSIVE
      leaving(id) AS (
        SELECT id FROM post WHERE blog NOT IN (SELECT id FROM blog)
          OR parent NOT IN (SELECT id FROM post)
        UNION SELECT p.id FROM post AS p JOIN leaving AS l ON p.parent = l.id),
      staying AS (SELECT * FROM post WHERE id NOT IN (SELECT id FROM leaving)),
      shown AS (SELECT photo AS id FROM before UNION ALL SELECT other FROM before),
      shows AS (SELECT photo AS id FROM staying UNION ALL SELECT other FROM staying)
    SELECT id FROM photo AS f WHERE EXISTS (SELECT 1 FROM shows AS s WHERE f.id = s.id)
      OR NOT EXISTS (SELECT 1 FROM shown AS s WHERE f.id = s.id)
    UNION ALL SELECT id FROM staying ORDER BY 1
    """
}
