/// Reads the `fetched` member of one collection.
struct FetchedReader {
  private static let keys = ["from", "where", "order", "limit", "settings", "store"]

  static func read(_ entry: ModelValue) -> [String: FetchedProperty] {
    var properties: [String: FetchedProperty] = [:]
    for (name, entry) in entry.members() ?? [] {
      if name.isEmpty { entry.addProblem("a fetched property's name may not be empty") }
      guard let fields = Fields(entry, keys) else { continue }
      properties[name] = property(fields)
    }
    return properties
  }

  private static func property(_ fields: Fields) -> FetchedProperty? {
    let settings = fields["settings"].map(readSettings) ?? [:]
    let names = settings.keys.sorted()
    let from = fields.required("from")?.name("a collection")
    let condition = fields.required("where")?.expression(settings: names)
    let order = fields["order"]?.expression(settings: names)
    let limit = fields["limit"]?.integer(atLeast: 1)
    let store = fields["store"]?.filePath()
    // A collection of this store is checked later, when all collections are known.
    if fields["store"] != nil, let from { fields["from"]?.checkName(name: from, of: "collection") }
    guard let from, let condition else { return nil }
    return FetchedProperty(
      from: from, condition: condition, order: order, limit: limit, settings: settings,
      store: store)
  }

  private static func readSettings(_ entry: ModelValue) -> [String: FetchedProperty.Setting] {
    var settings: [String: FetchedProperty.Setting] = [:]
    for (name, entry) in entry.members() ?? [] { settings[name] = setting(entry) }
    return settings
  }

  /// A value that can be bound to a statement.
  private static func setting(_ entry: ModelValue) -> FetchedProperty.Setting? {
    switch entry.json {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .number(let value): .number(value)
    case .string(let value): .text(value)
    default: entry.wrongType("a string, a number, true, false or null")
    }
  }
}

extension ModelValue {
  fileprivate func expression(settings: [String]) -> String? {
    guard let text = name("an SQL expression") else { return nil }
    do {
      try SQLExpression(text).variables.forEach { try judge($0, settings) }
      return text
    } catch {
      addProblem((error as? SQLExpression.Illegal)?.reason ?? "\(error)")
      return nil
    }
  }

  private func judge(
    _ variable: SQLExpression.Variable, _ settings: [String]
  ) throws(SQLExpression.Illegal) {
    switch (variable.base, variable.member) {
    case ("source", .some): return
    case ("property", let member?):
      guard !settings.contains(member) else { return }
      throw SQLExpression.Illegal(reason: unknown("setting", member, among: settings))
    case ("source", nil), ("property", nil):
      throw SQLExpression.Illegal(reason: "\"$\(variable.base)\" needs a member, as in $source.id")
    default:
      throw SQLExpression.Illegal(
        reason: unknown("variable", "$" + variable.base, among: ["$source", "$property"]))
    }
  }
}
