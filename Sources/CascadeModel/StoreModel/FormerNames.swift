/// What parts of the model were called before (`was`), where nothing else tells that they are the same.
package struct FormerNames: Hashable, Sendable {
  /// By what they are called now.
  package internal(set) var collections: [String: String] = [:]
  package internal(set) var roots: [String: String] = [:]
  /// The tables of collections, by the collections.
  package internal(set) var tables: [String: String] = [:]
  /// The columns of their tables, by what these are called now.
  package internal(set) var columns: [String: [String: String]] = [:]
}

/// Reads `was` of a collection: a name, or an object.
struct FormerNamesReader {
  let collection: String

  func read(_ entry: ModelValue, into names: inout FormerNames) {
    if case .string = entry.json { return readName(entry, into: &names) }
    guard let fields = Fields(entry, ["name", "table", "columns"], "a name or an object") else {
      return
    }
    fields["name"].map { readName($0, into: &names) }
    names.tables[collection] = fields["table"]?.name("a table")
    let columns = fields["columns"]?.members() ?? []
    for (name, entry) in columns {
      names.columns[collection, default: [:]][name] = entry.name("a column")
    }
  }

  private func readName(_ entry: ModelValue, into names: inout FormerNames) {
    entry.readFormerName("a collection", of: collection, into: &names.collections)
  }
}

extension ModelValue {
  func readFormerName(_ what: String, of name: String, into names: inout [String: String]) {
    guard let was = self.name(what) else { return }
    if was == name { addProblem("\"\(was)\" is what it is called now") }
    if let other = names.first(where: { $0.value == was }) {
      addProblem("\"\(was)\" is already what \"\(other.key)\" was")
    }
    names[name] = was
  }
}
