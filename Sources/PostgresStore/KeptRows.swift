internal import CascadeEngine
internal import CascadePostgres
internal import PostgresBinding
internal import PostgresTables

/// The kept rows of a table in a batch that have one shape, as SQL that says how they fit into the table
/// as it is now.
///
/// A row is kept as one text. Where the table has not changed, the server reads it as a row of the table;
/// otherwise as one of as many texts as there were columns, each of which is then read as what `RowFit`
/// says.
struct KeptRows {
  /// The columns of the table that the rows fill, quoted.
  let columns: [String]
  /// Those that are written again where a trigger has changed them.
  let rewritten: [String]
  /// Whether a row `r` can come back.
  let isWhole: String
  /// A query: rows `r` with these columns, and the one called `id`, by which they are kept. Those of the
  /// array `$1` only, unless it is null.
  let rows: String
  let fit: RowFit
  /// Values that may not fit the types of their columns: a column, and whether one in a row `r` does not.
  fileprivate(set) var conversions: [(column: String, isUnfit: String)] = []

  /// Where the rows are kept.
  struct Source {
    /// A query for `id` and `row`: those of the array `$1` only, unless it is null.
    let texts: String
  }

  /// A name that is not likely to be that of a column.
  static let id = "\"cascade id\""

  /// Nil if the rows cannot be read, because what they had is not known.
  init?(
    _ store: StoreConnection, _ source: Source, shape number: String?, in table: String,
    key: [Columns]
  ) throws {
    let shapes = KeptShapes(store)
    let (now, current) = try shapes.table(table, key: key)
    let isSame = number == nil || number == current
    guard let kept = try isSame ? KeptShape(now) : shapes.shape(number!) else { return nil }
    fit = kept.fit(now)
    let changeable = try KeptRows.changeable(store, table)
    var (values, written, whole, unfit): ([String], [String], [String], [(String, String)]) =
      ([], [], [], [])
    for filling in fit.fillings {
      let name = quoted(filling.column.name)
      let text = "(n.r).\(isSame ? name : "c\(filling.place)")"
      let type = filling.column.type
      if let old = filling.oldType {
        let kept = "r.\(quoted("cascade \(filling.place)"))"
        values.append("\(KeptRows.converted(text, old, type))::\(type) AS \(name)")
        values.append("\(text) AS \(quoted("cascade \(filling.place)"))")
        let isUnfit = "(\(kept) IS NOT NULL AND r.\(name) IS NULL)"
        unfit.append((filling.column.name, isUnfit))
        if !filling.column.isOptional || filling.column.isKey { whole.append("NOT \(isUnfit)") }
      } else {
        values.append(isSame ? "\(text) AS \(name)" : "\(text)::\(type) AS \(name)")
        if changeable.contains(filling.column.name) { written.append(name) }
      }
    }
    columns = fit.fillings.map { quoted($0.column.name) }
    rewritten = written
    isWhole = whole.isEmpty ? "true" : whole.joined(separator: " AND ")
    conversions = unfit
    let row = isSame ? "k.row::\(table)" : "k.row::\(KeptRows.type)"
    rows = """
      SELECT \((["n.id AS \(KeptRows.id)"] + values).joined(separator: ", ")) FROM (
        SELECT k.id, \(row) AS r FROM (\(source.texts)) k) n
      """
    if !isSame { try KeptRows.makeType(store, kept.columns.count) }
    if !unfit.isEmpty { try store.db.execute(KeptRows.conversion) }
  }

  /// What is told of the values that did not come back.
  func remarks(_ store: StoreConnection, of table: String) throws -> [String] {
    try fit.remarks
      + conversions.filter { conversion in
        try store.db.run(
          "SELECT EXISTS (SELECT FROM (\(rows)) r WHERE \(conversion.isUnfit))", [nil]
        ).bool
      }.map { RowFit.unfit($0.column, of: table) }
  }

  /// The columns that can be changed in a row that is there.
  private static func changeable(_ store: StoreConnection, _ table: String) throws -> Set<String> {
    Set(
      try store.db.run(
        """
        SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass
          AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity <> 'a'
        """, [table]
      ).texts)
  }

  // MARK: - Rows of another shape

  private static let type = "cascade.kept_row"

  /// A type of so many texts. It is gone with the transaction, or with the next one of its kind.
  private static func makeType(_ store: StoreConnection, _ count: Int) throws {
    let columns = (0..<count).map { "c\($0) text" }.joined(separator: ", ")
    try store.db.execute("DROP TYPE IF EXISTS \(type); CREATE TYPE \(type) AS (\(columns))")
  }

  /// At the end of an undo.
  static func end(_ store: StoreConnection) throws {
    try store.db.execute("DROP TYPE IF EXISTS \(type)")
  }

  private static func converted(_ value: String, _ old: String, _ new: String) -> String {
    "cascade.converted(\(value), \(literal(old)), \(literal(new)))"
  }

  /// A value fits a type if it can be converted to it, and back without a change. Null if it does not.
  private static let conversion = """
    CREATE OR REPLACE FUNCTION cascade.converted(value text, old text, new text) RETURNS text
    LANGUAGE plpgsql AS $$
      DECLARE result text; is_same boolean;
      BEGIN
        IF value IS NULL THEN RETURN NULL; END IF;
        EXECUTE format('SELECT c.v::text, (c.v::%1$s)::text = $1 FROM (SELECT ($1::%1$s)::%2$s) c(v)',
          old, new) INTO result, is_same USING value;
        RETURN CASE WHEN is_same THEN result END;
      EXCEPTION WHEN others THEN RETURN NULL;
      END $$
    """
}

extension KeptShape {
  fileprivate init(_ now: TableShape) {
    self.init(
      table: now.table, identity: now.identity,
      columns: now.columns.map {
        KeptShape.Column(name: $0.name, identity: $0.identity, type: $0.type)
      })
  }
}
