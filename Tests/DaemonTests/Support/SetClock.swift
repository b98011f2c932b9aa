import CascadeSystem

/// The wall clock of a daemon, which stands still until a test sets it.
final class SetClock {
  private let scratch: Scratch
  private let zone: String

  init(_ time: Int64, zone: String) throws {
    self.zone = zone
    scratch = try Scratch("-clock")
    try set(time)
  }

  var environment: [String] { ["CASCADE_CLOCK=\(scratch.path("now"))", "TZ=\(zone)"] }

  /// In milliseconds since 1970.
  func set(_ time: Int64) throws {
    try scratch.write("next", String(time))
    try scratch.directory.rename("next", to: scratch.directory, as: "now")
  }
}

extension Int64 {
  /// 2026-06-01, a Monday, in milliseconds since 1970.
  static let june: Int64 = 1_780_272_000_000

  static let seconds: Int64 = 1_000
  static let minutes = 60 * seconds
  static let hours = 60 * minutes
  static let days = 24 * hours
}
