extension Duration {
  /// Rounded up, so that a wait is never shorter than requested. Negative durations give 0.
  package var microseconds: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    let rest = UInt64((attoseconds + 999_999_999_999) / 1_000_000_000_000)
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max / 2 : min(whole + rest, .max / 2)
  }
}
