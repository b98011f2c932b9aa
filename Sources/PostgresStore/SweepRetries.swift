internal import CascadeModel
internal import CascadePostgres
internal import PostgresSweeps

/// How a transaction of a sweep is tried again.
extension PostgresWriter {
  static let mostTries = 5

  /// Whether it may go better if it is tried again: with fewer rows, or in a way that finds out which
  /// rows are at fault.
  func prepare(
    _ waves: inout Waves, after error: PostgresError, _ tries: Int, isStep: Bool
  ) -> Bool {
    if error.isConflict { return true }
    if error.isCancelled && isStep && !waves.looksFirst {
      waves.looksFirst = tries > 0
      pace.slowDown()
      return true
    }
    if error.isAboutTheValue && !waves.checksAtOnce {
      waves.checksAtOnce = waves.expectsRefusals
      waves.expectsRefusals = true
      return true
    }
    if waves.expectsRefusals || !error.isLocked && !error.isCancelled { return false }
    waves.expectsRefusals = true
    return true
  }
}
