import CascadeModel
import StoreDefinition

/// Random tables in PostgreSQL.
struct TablesInPostgres: TableSQL {
  let keys: [PlacedGraph.Keys] = [.text, .integer, .uuid, .bytes, .pair]

  func key(_ keys: PlacedGraph.Keys) -> (columns: String, options: String) {
    let types = typesOfSources(keys)
    if types.count == 1 { return ("id \(types[0]) PRIMARY KEY", "") }
    return ("id \(types[0]) NOT NULL, id_of \(types[1]) NOT NULL", "")
  }

  /// A text may name any key, and has any value that means nothing.
  func types(_ relation: PlacedGraph.Relation, to keys: PlacedGraph.Keys?) -> [String] {
    if keys == .pair { return typesOfSources(.pair) }
    let isText = relation.leadsToBoth || relation.none.map { !fits($0, keys) } ?? false
    if isText || relation.variant % 4 == 0 { return ["text"] }
    return keys.map(typesOfSources) ?? ["varchar(9)"]
  }

  private func fits(_ none: Key, _ keys: PlacedGraph.Keys?) -> Bool {
    switch keys {
    case .integer: none.json.integer != nil
    case .uuid, .bytes: none.json.string?.isEmpty == false
    default: true
    }
  }

  func typesOfSources(_ keys: PlacedGraph.Keys) -> [String] {
    switch keys {
    case .integer: ["int"]
    case .uuid: ["uuid"]
    case .bytes: ["bytea"]
    case .pair: ["varchar(9)", "numeric(5)"]
    case .text, .withoutRowid, .nocase: ["text"]
    }
  }

  let typeOfTypes = "varchar(9)"

  func typeOfDocuments(_ variant: Int) -> String { ["jsonb", "json", "text"][variant % 3] }

  func literal(_ part: JSON) -> String { "'\(part.string ?? part.text)'" }

  func hearing(_ tables: [String]) -> String {
    let triggers = tables.map { table in
      """
      CREATE TRIGGER "\(table) changes" AFTER DELETE OR UPDATE ON "\(table)"
        FOR EACH ROW EXECUTE FUNCTION hear();
      """
    }
    return """
      CREATE TABLE heard(v text); GRANT ALL ON heard TO PUBLIC;
      CREATE FUNCTION hear() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO public.heard VALUES(TG_OP); RETURN NULL; END $$;
      \(triggers.joined(separator: "\n"))
      """
  }

  let canReplace = false

  func inserting(_ values: String, unlessIn table: String) -> String {
    "INSERT INTO \(table) \(values) ON CONFLICT DO NOTHING"
  }

  func quoted(_ column: String) -> String { "quote_nullable(\(column))" }

  var rowid: String? { nil }
}
