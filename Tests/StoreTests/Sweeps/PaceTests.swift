import StoreDefinition
import CascadeModel
import CascadeEngine
import CascadeStore
import SQLiteStore
import Testing

@Suite("Between two steps of a large sweep")
struct PaceTests {
  /// https://sqlite.org/c3ref/busy_timeout.html: it sleeps longer from time to time.
  private static let sleeps = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

  /// From a moment on, at which others have so many milliseconds to wait, to when one has the lock.
  private static func wait(from rest: Double) -> Double {
    var slept = 0.0
    for sleep in sleeps where slept < rest { slept += Double(sleep) }
    return slept - rest
  }

  @Test(
    "whoever waits in SQLite's busy handler finds the lock free",
    arguments: [0.3, 1, 2.9, 6.2, 8, 8.1, 17, 30, 75, 90, 140, 220, 260, 328])
  func letsOthersIn(held: Double) throws {
    let breath = Pace(try StoreModel("{}").limits).yieldDuration(
      behind: Duration.milliseconds(held))
    for part in stride(from: 0.0, through: 1, by: 0.01) {
      let wait = PaceTests.wait(from: held * part)
      #expect(Duration.milliseconds(wait) < breath.lowerBound, "after \(held * part) ms")
    }
    #expect(breath.upperBound < Duration.milliseconds(101))
  }

  @Test("a step that ends before SQLite tries again has a short pause behind it")
  func isShort() throws {
    let pace = Pace(try StoreModel("{}").limits)
    let (short, long) = (Duration.microseconds(5_500), Duration.microseconds(10_500))
    #expect(pace.yieldDuration(behind: Duration.milliseconds(7)) == short...long)
    #expect(pace.yieldDuration(behind: Duration.milliseconds(9)).lowerBound == long)
  }

  @Test("there is no pause where nobody else is expected")
  func isNone() throws {
    let pace = Pace(try StoreModel("{ limits: { lock: \"none\" } }").limits)
    #expect(pace.yieldDuration(behind: Duration.seconds(1)).upperBound == .zero)
  }
}
