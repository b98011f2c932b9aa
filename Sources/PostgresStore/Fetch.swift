package import CascadeModel
internal import CascadeEngine
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// Fetched properties: queries of the model, answered in a transaction that can only read.
///
/// Values are bound without a type, so PostgreSQL takes the one that their place in the query wants.
struct PropertySearch {
  private let target: FetchedSearch
  private let store: StoreConnection

  typealias Question = FetchQuestion<String?>

  init(_ target: FetchedSearch, in store: StoreConnection) {
    (self.target, self.store) = (target, store)
  }

  // MARK: - Variables

  func question(from node: Node) throws -> Question {
    try target.question(from: source(node), null: nil, setting: \.text)
  }

  private func source(_ node: Node) throws -> FetchSource<String?> {
    guard let table = store.binding.tables[node.collection], let key = table.key.text(node.key)
    else { throw FetchError.noSuchNode(node) }
    let isIt = table.key.equal("t", text: "$1")
    let value = table.isManaged ? "t.value::jsonb" : "to_jsonb(t)"
    let type = table.isManaged ? "t.type" : "NULL"
    guard
      let row = try store.db.run(
        "SELECT \(type) FROM \(table.name) t WHERE \(isIt)", [key]
      ).rows.first
    else { throw FetchError.noSuchNode(node) }
    let members = try store.db.run(
      """
      SELECT m.key, m.value FROM \(table.name) t CROSS JOIN jsonb_each_text(
        CASE jsonb_typeof(\(value)) WHEN 'object' THEN \(value) ELSE '{}' END) m WHERE \(isIt)
      """, [key]
    ).rows
    return FetchSource(
      members.map { ($0[0]!, $0[1]) }, own: ["key": key, "type": row[0]], isRow: !table.isManaged)
  }

  // MARK: - The search

  func find(_ question: Question) throws -> SearchResult {
    guard let table = store.binding.tables[target.searched] else {
      throw target.wrong("there is no table for \"\(target.searched)\" now")
    }
    let rows = try store.db.run(try query(table), question.values).rows
    var found = SearchResult()
    for row in rows {
      found.add(
        StoredNode(
          node: table.node(row[0]!), exists: true, type: row[1],
          value: row[2].map { JSONText(valid: $0) }))
      if found.isTooMuch { throw target.findsTooMuch }
    }
    return found
  }

  private func query(_ table: MappedTable) throws -> String {
    let (condition, order) = try target.property.expressions()
    var number = 0
    func next(_: SQLExpression.Variable) -> String {
      number += 1
      return "$\(number)"
    }
    let isMeant = condition.text(replacing: next)
    let alias = quoted(target.property.from)
    let ordered = [order?.text(replacing: next), table.key.values(alias)].compactMap(\.self)
    let limit = target.property.limit.map { "LIMIT \($0)" } ?? ""
    return """
      SELECT \(table.key.text(alias)), \(table.isManaged ? objects(alias).content : table.content(alias))
      FROM \(table.isManaged ? objects(alias).from(table) : "\(table.name) \(alias)")
      WHERE (\(isMeant)) ORDER BY \(ordered.joined(separator: ", ")) \(limit)
      """
  }

  /// Objects have the columns "key", "type" and "value", which is `jsonb`.
  private func objects(_ alias: String) -> (content: String, from: (MappedTable) -> String) {
    let isOfType = target.type.map { " WHERE o.type = \(literal($0))" } ?? ""
    return (
      "\(alias).type, \(alias).cascade_value",
      {
        """
        (SELECT o.key, o.type, o.value::jsonb AS value, o.value AS cascade_value
          FROM \($0.name) o\(isOfType)) \(alias)
        """
      }
    )
  }
}

extension FetchedProperty.Setting {
  fileprivate var text: String? {
    switch self {
    case .null: nil
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value
    }
  }
}

extension PostgresReader {
  /// What was found is kept as long as no transaction of the server has begun to write or ended since.
  package func fetch(
    _ name: String, of node: Node, refresh: Bool, timeLimit: Duration
  ) throws -> Fetched {
    let target = try FetchedSearch(name, of: node.collection, in: model, timeLimit: timeLimit)
    do {
      return try ask(longest: timeLimit) { store in
        try store.db.execute("SET TRANSACTION READ ONLY")
        let search = PropertySearch(target, in: store)
        let question = try search.question(from: node)
        let version = try store.db.run("SELECT pg_current_snapshot()").text
        return try self.fetched.answer(question, refresh, version: version) {
          try store.readingWholeTables { try search.find(question) }
        }
      }
    } catch let error as PostgresError where error.isCancelled {
      throw target.tooLong()
    } catch let error as PostgresError where error.isAboutTheStatement {
      throw target.wrong(error.message)
    }
  }
}
