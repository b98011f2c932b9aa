/// Delays that double each time, up to half a minute.
struct Backoff {
  private var delay = Duration.milliseconds(100)

  mutating func next() -> Duration {
    defer { delay = min(delay * 2, .seconds(30)) }
    return delay
  }
}
