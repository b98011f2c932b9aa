extension Duration {
  /// Milliseconds in each unit, the largest first. Durations are written in the same order.
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000),
    ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  /// Reads a duration such as "10ms", "30s", "1h30m" or "1d". Only "0" needs no unit.
  package init?(text: String) {
    if text == "0" {
      self = .zero
      return
    }
    guard let milliseconds = Duration.milliseconds(in: text) else { return nil }
    self = .milliseconds(milliseconds)
  }

  private static func milliseconds(in text: String) -> Int64? {
    var rest = Substring(text)
    var allowed = units[...]
    var total: Int64 = 0
    repeat {
      guard let count = takeNumber(&rest), let unit = takeUnit(&rest, &allowed) else { return nil }
      let (part, tooLarge) = count.multipliedReportingOverflow(by: unit)
      let (sum, overflow) = total.addingReportingOverflow(part)
      guard !tooLarge, !overflow else { return nil }
      total = sum
    } while !rest.isEmpty
    return total
  }

  private static func takeNumber(_ rest: inout Substring) -> Int64? {
    let digits = rest.prefix { "0"..."9" ~= $0 }
    rest = rest[digits.endIndex...]
    return Int64(digits)
  }

  /// Takes one unit. Larger units are not allowed after it: each comes once, in order.
  private static func takeUnit(
    _ rest: inout Substring, _ allowed: inout ArraySlice<(name: String, milliseconds: Int64)>
  ) -> Int64? {
    let letters = rest.prefix { !("0"..."9" ~= $0) }
    rest = rest[letters.endIndex...]
    guard let index = allowed.firstIndex(where: { $0.name == letters }) else { return nil }
    allowed = allowed[(index + 1)...]
    return units[index].milliseconds
  }

  package var inMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
