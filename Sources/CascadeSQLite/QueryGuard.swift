internal import CascadeCSQLite

/// Restricts a query whose text comes from the model, from before it is prepared until it ends.
///
/// SQLite asks it about each action of the text, including those of views and triggers, and every
/// so many steps whether to continue.
@safe
final class QueryGuard {
  private let database: OpaquePointer
  private let steps: StepGuard

  init(_ database: OpaquePointer, _ limit: Duration) {
    unsafe self.database = database
    let deadline = ContinuousClock.now + limit
    steps = unsafe StepGuard(database) { deadline < .now }
    unsafe sqlite3_set_authorizer(
      database,
      { _, action, one, two, _, _ in
        let (one, two) = unsafe (
          one.map { unsafe String(cString: $0) }, two.map { unsafe String(cString: $0) }
        )
        return QueryGuard.permits(action, one, two) ? SQLITE_OK : SQLITE_DENY
      }, nil)
  }

  func end() {
    steps.end()
    unsafe sqlite3_set_authorizer(database, nil, nil)
  }

  /// The meaning of the two names depends on the action.
  private static func permits(_ action: Int32, _ one: String?, _ two: String?) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: true
    case SQLITE_FUNCTION: !unsafeFunctions.contains(two?.lowercased() ?? "")
    // A virtual table, json_each too, declares its columns by this action, and writes nothing.
    case SQLITE_UPDATE: one == "sqlite_master"
    // Full-text search uses these.
    case SQLITE_PRAGMA: two == nil && ["data_version", "page_size"].contains(one)
    default: false
    }
  }

  /// Functions that do more than compute: they load code, or touch files.
  private static let unsafeFunctions: Set<String> = [
    "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit",
  ]
}

/// Makes SQLite ask every so many steps whether the time is over.
@safe
final class StepGuard {
  private let database: OpaquePointer
  private let isOver: () -> Bool

  /// Steps between two checks, which take far less than a millisecond.
  private static let stepsPerCheck: Int32 = 1_000

  init(_ database: OpaquePointer, isOver: @escaping () -> Bool) {
    unsafe self.database = database
    self.isOver = isOver
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_progress_handler(
      database, StepGuard.stepsPerCheck,
      { context in
        unsafe Unmanaged<StepGuard>.fromOpaque(context!).takeUnretainedValue().isOver() ? 1 : 0
      }, context)
  }

  func end() { unsafe sqlite3_progress_handler(database, 0, nil, nil) }
}
