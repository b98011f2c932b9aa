package import CascadeModel

/// Times as the numbers that a column has of them.
extension TimeForm {
  /// A time in milliseconds since 1970, rounded down, as SQL writes the number; nil for texts.
  package func number(_ milliseconds: Int64) -> String? {
    switch self {
    case .unix: "\(milliseconds.quotient(by: 1_000))"
    case .unixms: "\(milliseconds)"
    case .unixus: "\(milliseconds.multipliedReportingOverflow(by: 1_000).partialValue)"
    case .julian: "\(TimeForm.julianDays(milliseconds))"
    case .iso: nil
    }
  }

  /// SQL of the milliseconds since 1970 of a number.
  package func milliseconds(_ number: String) -> String {
    switch self {
    case .unix: "\(number) * 1000.0"
    case .unixms: number
    case .unixus: "\(number) / 1000.0"
    case .julian, .iso: "(\(number) - \(TimeForm.julianEpoch)) * \(TimeForm.day).0"
    }
  }

  package static func julianDays(_ milliseconds: Int64) -> Double {
    Double(milliseconds) / Double(day) + julianEpoch
  }

  private static let day: Int64 = 86_400_000
  private static let julianEpoch = 2_440_587.5

  /// The beginning of 1971 and of 5000. Times that are all before the one, but not before 1970, or behind the
  /// other, were read in a wrong unit.
  package static let plausible = (first: Int64(31_536_000_000), end: Int64(95_617_584_000_000))
}

extension Int64 {
  /// Rounded down, also below zero.
  fileprivate func quotient(by divisor: Int64) -> Int64 {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
