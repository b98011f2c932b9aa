import CascadeModel
import CascadeSystem
import Testing

/// Messages for survivors: notices, ack.
@Suite struct NoticeTests {
  /// A store where the deletion of `d/N` makes the notice N.
  private static func watched(_ count: Int) throws -> TestStore {
    let store = try TestStore()
    let lines = (1...count).map { number in
      #"""
      {"put": ["d", "\#(number)"]}
      {"put": ["s", "\#(number)"], "edges": [{"name": "e", "to": ["d", "\#(number)"], \#
      "rules": ["notifyIfDestinationDeleted"]}]}
      """#
    }
    try store.apply(lines.joined(separator: "\n"))
    return store
  }

  private static func delete(_ number: Int, in store: TestStore) throws {
    try store.apply(#"{"changes": [{"delete": ["d", "\#(number)"]}]}"#)
  }

  @Worker @Test func listsNoticesBehindANumber() throws {
    let store = try NoticeTests.watched(3)
    for number in 1...3 { try NoticeTests.delete(number, in: store) }
    let notices = try store.ctl("--json", "notices").lines
    #expect(notices.map { $0["notice"] } == [1, 2, 3])
    #expect(notices[0]["node"] == ["s", "1"])
    #expect(notices[0]["edge"]?["to"] == ["d", "1"])
    #expect(notices[0]["reason"] == "destinationDeleted")
    #expect(notices[0]["receiverDeleted"] == false)
    #expect(try store.ctl("--json", "notices", "--after", "2").lines.count == 1)
    #expect(try store.ctl("notices", "--after=3").output == "")
    #expect(
      try store.ctl("notices", "--after", "2").output
        == "3  s/3 lost d/3: s/3 -e-> d/3  [notifyIfDestinationDeleted]\n")
  }

  @Worker @Test func forgetsWhatIsAcknowledged() throws {
    let store = try NoticeTests.watched(3)
    for number in 1...3 { try NoticeTests.delete(number, in: store) }
    #expect(try store.ctl("--json", "ack", "1").json == ["acknowledged": 1])
    #expect(try store.ctl("ack", "2").output == "1 notice deleted\n")
    #expect(try store.ctl("--json", "notices").lines.map { $0["notice"] } == [3])
    #expect(try store.ctl("ack", "99").status == 0)
    #expect(try store.ctl("notices").output == "")
  }

  @Worker @Test func followsNoticesAsTheyCome() throws {
    let store = try NoticeTests.watched(4)
    try NoticeTests.delete(1, in: store)
    let follower = try Running(
      [Programs.cascadectl, "--store", store.path, "--json", "notices", "--follow"],
      input: FileDescriptor.open("/dev/null"))
    #expect(try follower.lines(1).count == 1)
    for number in 2...4 {
      try NoticeTests.delete(number, in: store)
      let lines = try follower.lines(number)
      let numbers = try lines.map { try JSON.parse($0)["notice"]?.integer }
      #expect(numbers == (1...number).map(Int64.init))
    }
    try store.end()
    let outcome = try follower.finish()
    #expect(outcome.status == 75)
  }

  @Worker @Test func isNotHeldUpByAFollowerThatIsGone() throws {
    let store = try NoticeTests.watched(2)
    for number in 1...2 {
      let follower = try Running(
        [Programs.cascadectl, "--store", store.path, "notices", "--follow"],
        input: FileDescriptor.open("/dev/null"))
      try NoticeTests.delete(number, in: store)
      #expect(try follower.lines(number).count == number)
      follower.process.send(9)
      #expect(try follower.finish().ending == .signal(9))
    }
    #expect(try store.ctl("status").status == 0)
  }
}
