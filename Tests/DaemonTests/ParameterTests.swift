import CascadeKit
import CascadeModel
import CascadeSystem
import Testing

/// Numbers that others say.
@Suite struct ParameterTests {
  @Worker
  @Test(
    arguments: [
      ("Undo", "batch", [:]), ("Acknowledge", "notice", [:]), ("Approve", "plan", [:]),
      ("Batches", "after", [:]), ("Batches", "limit", [:]), ("Notices", "after", [:]),
      ("Events", "after", [:]), ("Check", "limit", [:]), ("Graph", "depth", ["node": "a/1"]),
      ("Graph", "limit", ["node": "a/1"]), ("Lease", "seconds", ["nodes": ["a/1"]]),
    ] as [(String, String, JSON)])
  func refusesWhatIsNoInteger(method: String, name: String, others: JSON) throws {
    let store = try TestStore()
    for number in [1.0, 1.5, 1e30] {
      var client = try store.client()
      let fields = (others.object ?? []) + [JSON.Field(name, .number(number))]
      do {
        _ = try client.call(method, .object(fields))
        Issue.record("\(method) takes \(number)")
      } catch {
        #expect("\(error)".contains("InvalidParameter") && "\(error)".contains(name))
      }
    }
    #expect(try store.ctl("status").status == 0)
  }

  @Worker @Test(arguments: ["events", "notices", "batches"])
  func goesOnBehindAnyNumber(command: String) throws {
    let store = try TestStore()
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    for number in [Int64.min, -1, .max] {
      #expect(try store.ctl(command, "--after", "\(number)").status == 0)
    }
  }

  /// Where the file system keeps such times.
  @Worker @Test func aFileMayBeOfAnyTime() throws {
    let path = "/dev/shm/cascade-test-\(Process.identifier)"
    defer { _ = try? run(["/bin/rm", "-f", path]) }
    for time in ["9223372036854775807", "-9223372036854775808"] {
      #expect(try run(["/usr/bin/touch", "-d", "@\(time)", path]).status == 0)
      let status = try FileStatus.of(path)
      #expect(status?.modifiedMilliseconds != 0)
    }
  }
}
