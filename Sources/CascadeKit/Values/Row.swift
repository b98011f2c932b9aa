/// A row of a table, or an object, as ``Model/init(row:)`` reads it: the values are in the order of
/// the model's ``Columns``. It cannot leave the call that has it.
@safe
public struct Row: ~Copyable {
  @usableFromInline let statement: OpaquePointer
  @usableFromInline let first: Int32
  @usableFromInline let names: [String]
  /// The values of an object, which has no columns.
  @usableFromInline let object: ObjectValues?

  @inlinable
  init(_ statement: OpaquePointer, from first: Int32, _ names: [String], _ object: ObjectValues?) {
    unsafe self.statement = statement
    self.first = first
    self.names = names
    self.object = object
  }

  /// The value of a property, by its place in ``Columns``.
  @inlinable
  public func value<V: ColumnValue>(_ index: Int) throws(ReadError) -> V {
    do throws(ReadError) {
      if let object { return try object.value(index) }
      return try V(unsafe ResultColumn(statement, first + Int32(index)))
    } catch {
      throw error.reading(names[index])
    }
  }
}

/// What a model writes: the values in the order of its ``Columns``.
public struct RowValues: Sendable {
  package private(set) var values: [SQLValue] = []
  private var isJSON: [Bool] = []

  init() {}

  /// Adds the next value. `index` is its place in ``Columns``: values are set in that order.
  public mutating func set<V: ColumnValue>(_ index: Int, _ value: V) {
    precondition(index == values.count, "values are set in the order of the columns")
    values.append(value.sqlValue)
    isJSON.append(V.isJSON)
  }

  package func isJSON(_ index: Int) -> Bool { isJSON[index] }
}
