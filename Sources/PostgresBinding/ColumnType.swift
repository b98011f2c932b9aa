package import CascadeModel
package import CascadePostgres

/// The type of a column, as the catalog has it. A domain is what it is based on.
package struct ColumnType: Sendable {
  /// Without a length or a scale.
  package let name: String
  /// Quoted, with its schema.
  let qualifiedName: String
  /// Whether texts that are equal are the same.
  let isDeterministic: Bool
  /// How many digits each value has behind the point, if all have so many.
  let scale: Int?
  /// The values of an enumerated type.
  let labels: [String]?
  /// That of the elements of an array.
  package private(set) var elements: [ColumnType] = []

  package var isText: Bool { ["text", "character varying", "character"].contains(name) }

  package var isTime: Bool {
    ["timestamp with time zone", "timestamp without time zone", "date"].contains(name)
  }

  /// That of the values of objects.
  package static let ofObjects = ColumnType()

  private init() {
    (name, qualifiedName, isDeterministic) = ("text", "pg_catalog.text", true)
    (scale, labels) = (nil, nil)
  }

  fileprivate init(_ row: [String?]) throws {
    name = row[0]!
    qualifiedName = row[1]!
    isDeterministic = row[2] == "t"
    let modifier = Int(row[3]!)!
    // The lower eleven bits, with a sign.
    scale = modifier < 4 ? nil : max(0, (((modifier - 4) & 0x7ff) ^ 1024) - 1024)
    labels = try row[4].map { try JSON.parse($0).array?.compactMap(\.string) ?? [] }
  }

  fileprivate init(_ rows: [[String?]]) throws {
    try self.init(rows[0])
    elements = try rows.dropFirst().map { try ColumnType($0) }
  }
}

extension Expiry {
  /// Where the model does not say it, marks have what the column's type lets them have.
  package func form(of type: ColumnType) -> TimeForm? {
    switch self {
    case .age(_, _, let form): form
    case .condition: nil
    case .marked(_, _, let form?): form
    case .marked: type.isText ? .iso : type.isTime ? nil : .unix
    }
  }
}

extension Session {
  /// Nil if there is no such column.
  package func type(of column: String, in table: String) throws -> ColumnType? {
    let rows = try run(
      """
      WITH RECURSIVE d(type, modifier, locale, depth) AS (
        SELECT a.atttypid, a.atttypmod, a.attcollation, 0 FROM pg_attribute a
        WHERE a.attrelid = $1::regclass AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL SELECT t.typbasetype, t.typtypmod, d.locale, d.depth + 1
        FROM d JOIN pg_type t ON t.oid = d.type WHERE t.typtype = 'd')
      SELECT format_type(t.oid, NULL), format('%I.%I', n.nspname, t.typname),
        coalesce(l.collisdeterministic, true), d.modifier,
        (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e
          WHERE e.enumtypid = t.oid)
      FROM (SELECT * FROM d ORDER BY d.depth DESC LIMIT 1) d JOIN pg_type b ON b.oid = d.type
      JOIN pg_type t ON t.oid = b.oid OR b.typcategory = 'A' AND t.oid = b.typelem
      JOIN pg_namespace n ON n.oid = t.typnamespace
      LEFT JOIN pg_collation l ON l.oid = d.locale ORDER BY t.oid <> b.oid
      """, [table, column]
    ).rows
    return rows.isEmpty ? nil : try ColumnType(rows)
  }
}
