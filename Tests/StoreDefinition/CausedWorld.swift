import CascadeModel
import CascadeStore

/// What deletions mean, whatever begins them, in sets. Posts go with their person, and an image with the last
/// post that shows it. A pin keeps its post. A mention forgets its post.
struct CausedWorld {
  struct Row: Hashable, Comparable, CustomStringConvertible {
    let table: String
    let id: Int
    init(_ table: String, _ id: Int) { (self.table, self.id) = (table, id) }
    var description: String { "\(table) \(id)" }
    var node: Node { Node("\(table)s", .integer(Int64(id))) }
    static func < (a: Row, b: Row) -> Bool { (a.table, a.id) < (b.table, b.id) }
  }

  /// The values of the columns after the key.
  static let columns = [
    "person": ["at"], "post": ["author", "image"], "image": [], "pin": ["post"],
    "mention": ["post"],
  ]
  static let tables = columns.keys.sorted()
  /// More nodes than these need an approval.
  static let holdLimit = 5
  /// In seconds. Times of persons are even, so that none is on the limit.
  var now = 1_800_000_000
  /// Persons of before are not asked for again, because a pass was rejected.
  var sparedBefore = 0

  var rows: [Row: [Int?]] = [:]
  /// Posts whose persons are gone, and that were to go with a plan that was rejected. They stay.
  private var givenUp: Set<Row> = []

  func ids(_ table: String) -> [Int] { rows.keys.filter { $0.table == table }.map(\.id).sorted() }

  /// Persons whose time is more than a second back.
  var overdue: Set<Row> {
    Set(
      rows.filter { row, values in
        row.table == "person" && (sparedBefore..<now - 1).contains(values[0]!)
      }.keys)
  }

  // MARK: - What goes

  func isPinned(_ post: Row) -> Bool {
    rows.contains { $0.key.table == "pin" && $0.value[0] == post.id }
  }

  /// The rows, and the posts of those that are persons.
  private func withPosts(_ roots: Set<Row>) -> Set<Row> {
    roots.union(
      rows.keys.filter { post in
        guard post.table == "post", let author = rows[post]![0] else { return false }
        return roots.contains(Row("person", author))
      })
  }

  private func images(lostBy posts: Set<Row>) -> [Row] {
    let shown = posts.filter { $0.table == "post" }.compactMap { rows[$0]?[1] }
    let left = Set(
      rows.filter { $0.key.table == "post" && !posts.contains($0.key) }.map { $0.value[1] })
    return shown.filter { !left.contains($0) }.map { Row("image", $0) }.filter { rows[$0] != nil }
  }

  func isDenied(_ roots: Set<Row>) -> Bool {
    withPosts(roots).contains { $0.table == "post" && isPinned($0) }
  }

  /// What a job takes: everything besides what is pinned, and what that hangs on.
  func job(_ roots: Set<Row>) -> Set<Row> {
    let gone = withPosts(roots).filter { !isDenied([$0]) }
    return gone.union(images(lostBy: gone))
  }

  mutating func delete(_ gone: Set<Row>) {
    for row in gone { rows[row] = nil }
    for (row, values) in rows where row.table == "mention" {
      if let post = values[0], gone.contains(Row("post", post)) { rows[row] = [nil] }
    }
  }

  /// What the next sweep takes after an application has written, `before` being what it had followed.
  func following(after before: CausedWorld) -> Set<Row> {
    let posts = rows.filter { post, values in
      guard post.table == "post", let author = values[0] else { return false }
      return rows[Row("person", author)] == nil && !isPinned(post) && !givenUp.contains(post)
    }
    let left = Set(
      rows.filter { $0.key.table == "post" && posts[$0.key] == nil }.map { $0.value[1] })
    let shown = Set(before.rows.filter { $0.key.table == "post" }.compactMap { $0.value[1] })
    let images = ids("image").filter { shown.contains($0) && !left.contains($0) }
    return Set(posts.keys).union(images.map { Row("image", $0) })
  }

  /// Whether any of them is a post of a person that is gone, which only a pin keeps.
  func hasOrphans(among some: Set<Row>) -> Bool { some.contains(where: isOrphan) }

  private func isOrphan(_ post: Row) -> Bool {
    guard post.table == "post", let author = rows[post]?[0] else { return false }
    return rows[Row("person", author)] == nil
  }

  /// What went since is there again, and what was to go stays.
  mutating func reject(_ some: Set<Row>, since past: CausedWorld) {
    rows = past.rows
    givenUp.formUnion(some.filter(isOrphan))
  }

  mutating func move(_ post: Row, to author: Row, showing image: Row) {
    rows[post] = [author.id, image.id]
    givenUp.remove(post)
  }

  /// What the application has deleted since.
  func gone(since before: CausedWorld) -> Set<Row> {
    Set(before.rows.keys.filter { rows[$0] == nil })
  }

  /// The rows that are not the same, as the store has them.
  func difference(from others: [Row: [Int?]]) -> [String] {
    Set(rows.keys).union(others.keys).filter { rows[$0] != others[$0] }.sorted().map {
      let values = others[$0].map { $0.map { $0.map(String.init) ?? "-" }.joined(separator: " ") }
      return "\($0): \(values ?? "gone")"
    }
  }

  // MARK: - As a store

  static func store(_ engine: any EngineUnderTest) throws -> any StoreUnderTest {
    let schema = tables.map { table in
      let columns = ["id INTEGER PRIMARY KEY"] + columns[table]!.map { "\($0) INTEGER" }
      let indexes = CausedWorld.columns[table]!.map {
        "CREATE INDEX \(table)_\($0) ON \(table)(\($0));"
      }
      return "CREATE TABLE \(table)(\(columns.joined(separator: ", "))); \(indexes.joined())"
    }
    return try engine.makeStore(
      model: StoreModel(
        """
        { keepDeleted: true, trash: "1000d", limits: { hold: { deletes: \(holdLimit), share: 0.01, within: "0" } },
          collections: {
            persons: { table: 'person', key: 'id', expires: { column: 'at', after: '1s', as: 'unix' } },
            posts: { table: 'post', key: 'id' }, images: { table: 'image', key: 'id' },
            pins: { table: 'pin', key: 'id' }, mentions: { table: 'mention', key: 'id' } },
          relationships: [
            { name: 'author', from: 'posts', to: 'persons', column: 'author',
              rules: ['deleteSourceIfDestinationDeleted'] },
            { name: 'image', from: 'posts', to: 'images', column: 'image',
              rules: ['deleteDestinationIfAllSourcesDeleted'] },
            { name: 'pinned', from: 'pins', to: 'posts', column: 'post',
              rules: ['denyDestinationDeletion'] },
            { name: 'mentioned', from: 'mentions', to: 'posts', column: 'post',
              rules: ['nullifySourceIfDestinationDeleted'] }] }
        """), schema: schema.joined(separator: "\n"))
  }
}
