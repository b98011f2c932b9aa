import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// What another user could replace is not used: the daemon refuses it, names it, and says what works.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of another user"))
struct UnsafePathTests {
  private static let advice = "serve a store as its owner"

  // MARK: - Modes

  /// A model is not needed: the daemon makes the database, its spool and its socket.
  @Worker @Test(arguments: ["000", "022", "077", "777"])
  func makesASpoolOfItsOwnWhateverTheUmask(umask: String) throws {
    let store = try TestStore(starts: false)
    try store.sql("PRAGMA journal_mode = WAL; CREATE TABLE a(id)")
    try store.start(under: ["/bin/sh", "-c", "umask \(umask); exec \"$0\" \"$@\""])
    for part in ["", "/new", "/tmp", "/held", "/rejected"] {
      #expect(try FileStatus.of(store.spool + part)?.mode == 0o700, "\(part)")
    }
    #expect(try FileStatus.of(store.socket)?.mode == 0o660)
  }

  @Worker @Test func sharesTheSpoolWithTheGroupThatSharesTheStore() throws {
    let store = try TestStore(starts: false)
    try store.sql("PRAGMA journal_mode = WAL; CREATE TABLE a(id)")
    try UnsafePathTests.sh("chgrp 1234 \(store.path); chmod 660 \(store.path)")
    try UnsafePathTests.sh("chgrp 1234 \(store.scratch.path); chmod 2770 \(store.scratch.path)")
    try store.start()
    for part in ["", "/new", "/tmp", "/held", "/rejected"] {
      let status = try FileStatus.of(store.spool + part)
      #expect(status?.mode == 0o770 && status?.gid == 1234, "\(part)")
    }
    #expect(try store.ctl("apply", "-", input: #"{"changes": []}"#).status == 0)
  }

  // MARK: - What is refused at the start

  /// Each is done to a store that could be served before.
  @Worker
  @Test(arguments: [
    "chown 1234 DIR", "chmod 777 DIR", "chmod o+w STORE", "chown 1234 STORE",
    "chgrp 1234 DIR; chmod g+w DIR", "mkdir STORE.cascade; chown 1234 STORE.cascade",
    "mkdir -m 777 STORE.cascade", "mkdir DIR/away; ln -s DIR/away STORE.cascade",
    "mkdir STORE.cascade DIR/away; ln -s DIR/away STORE.cascade/rejected",
    "mkdir STORE.cascade; mkdir -m 1777 STORE.cascade/new",
    "mkdir STORE.cascade; echo '{}' >STORE.cascade/model.json; chown 1234 STORE.cascade/model.json",
    "mkdir STORE.cascade; echo '{}' >DIR/m; ln -s DIR/m STORE.cascade/model.json",
    "mkdir STORE.cascade; ln -s /no/where STORE.cascade/model.json",
  ])
  func refuses(set up: String) throws {
    let store = try UnsafePathTests.store()
    defer { UnsafePathTests.tidy(store) }
    try UnsafePathTests.sh(
      up.replacing("STORE", with: store.path).replacing("DIR", with: store.scratch.path))
    let outcome = try run([Programs.cascaded, store.path], limit: .seconds(10))
    #expect(outcome.status == 77, "\(outcome)")
    #expect(outcome.error.contains(UnsafePathTests.advice))
    #expect(outcome.error.contains(store.scratch.path))
    #expect(try FileStatus.of("\(store.path)-wal") == nil)
  }

  /// The layout behind the attack: a user's directory, and a daemon of root's.
  @Worker @Test func ofRootMovesNothingWhereAUserSays() throws {
    let store = try UnsafePathTests.store()
    defer { UnsafePathTests.tidy(store) }
    let target = try Directory.openOrMake(store.scratch.path("target"))
    try UnsafePathTests.sh(
      """
      mkdir -p \(store.spool)/new; ln -s \(target.path) \(store.spool)/rejected
      echo evil >\(store.spool)/new/x.sh; chown -hR 1234 \(store.spool); chown 1234 \(store.scratch.path)
      """)
    let outcome = try run([Programs.cascaded, store.path], limit: .seconds(10))
    #expect(outcome.status == 77)
    #expect(outcome.error.contains("\(store.scratch.path) belongs to user 1234"))
    #expect(try target.names() == [])
    #expect(try FileStatus.of("\(store.spool)/new/x.sh") != nil)
    // As its owner, it is served.
    try UnsafePathTests.sh("chown -hR 1234 \(store.scratch.path); rm \(store.spool)/rejected")
    try UnsafePathTests.sh("touch \(store.scratch.path)/log; chmod 666 \(store.scratch.path)/log")
    try store.start(under: ["/usr/bin/setpriv", "--reuid=1234", "--regid=1234", "--clear-groups"])
    try store.waitUntil("the file is rejected") { try store.count(in: "rejected") == 2 }
  }

  @Worker @Test func refusesARootOfFilesThatOthersCanReplace() throws {
    let store = try UnsafePathTests.store()
    defer { UnsafePathTests.tidy(store) }
    let media = store.scratch.path("media")
    try store.write(
      model: """
        { collections: { a: { table: "a", key: "id" } }, files: { media: "\(media)" } }
        """)
    for (setUp, reason) in [
      ("mkdir \(media); chown 1234 \(media)", "belongs to user 1234"),
      ("chown 0 \(media); chmod 777 \(media)", "can be written by every user"),
      ("rmdir \(media); ln -s /etc \(media)", "is a symbolic link"),
    ] {
      try UnsafePathTests.sh(setUp)
      let outcome = try run([Programs.cascaded, store.path], limit: .seconds(10))
      #expect(outcome.status == 77)
      #expect(outcome.error.contains("\(media) \(reason)"), "\(outcome.error)")
    }
    try UnsafePathTests.sh("rm \(media)")
    try store.start()
  }

  @Worker @Test func servesNoModelThatAnotherUserCouldHaveWritten() throws {
    let host = try Host()
    try host.model("good")
    try host.model("evil")
    try UnsafePathTests.sh("chown 1234 \(host.models)/evil.json")
    try host.start()
    try host.wait(for: "good", toBe: "ok")
    #expect(try host.states().count == 1)
    #expect(host.log.contains("evil.json belongs to user 1234"))
    _ = try host.end()
    try host.remove("good.json")
    let outcome = try run(
      [Programs.cascaded, "--config", host.models, "--socket", host.socket], limit: .seconds(10))
    #expect(outcome.status == 77)
    // Who only checks a model may be another user than the daemon.
    #expect(try run([Programs.cascaded, "--check-config", host.models]).status == 0)
  }

  // MARK: - What is replaced while it is served

  @Worker
  @Test(arguments: [
    "mkdir SPOOL; chown 1234 SPOOL", "mkdir -m 777 SPOOL", "ln -s DIR/away SPOOL",
    "mkdir SPOOL; mkdir -p DIR/target; ln -s DIR/target SPOOL/rejected",
  ])
  func takesNoUnsafeSpoolInPlaceOfAnother(replacement: String) throws {
    let store = try UnsafePathTests.store()
    defer { UnsafePathTests.tidy(store) }
    let socket = store.scratch.path("socket")
    try store.launch(["--socket", socket])
    func status() throws -> JSON {
      try run([Programs.cascadectl, "--socket", socket, "--json", "status"]).json["stores"]?
        .array?.first ?? .null
    }
    try store.waitUntil("it is served") { (try? status())?["state"] == "ok" }
    try UnsafePathTests.sh(
      "mv \(store.spool) \(store.scratch.path)/away; "
        + replacement.replacing("SPOOL", with: store.spool)
        .replacing("DIR", with: store.scratch.path))
    try store.waitUntil("it is told") {
      _ = try run([Programs.cascadectl, "--socket", socket, "apply", "-"], input: "x")
      return try status()["reason"]?.string?.contains(UnsafePathTests.advice) == true
    }
    #expect(try status()["state"] == "degraded")
    try UnsafePathTests.sh("rm -rf \(store.spool); mv \(store.scratch.path)/away \(store.spool)")
    try store.waitUntil("it is served again") { try status()["state"] == "ok" }
  }

  @Worker @Test func takesNothingFromAQueueThatOthersCanWrite() throws {
    let store = try UnsafePathTests.store()
    try store.start()
    let queue = "\(store.spool)/new"
    try UnsafePathTests.sh("chmod 777 \(queue)")
    try store.enqueue("1.json", #"{"changes": [{"put": ["n", "1"]}]}"#)
    try store.wait(forState: "degraded")
    #expect(try store.status()["reason"]?.string?.contains(queue) == true)
    #expect(try store.count(in: "new") == 1)
    #expect(try store.ctl("check").output.contains("\(queue) can be written by every user"))
    try UnsafePathTests.sh("chmod 700 \(queue)")
    try store.waitUntilIdle()
  }

  // MARK: - Helpers

  private static func store() throws -> TestStore {
    let store = try TestStore(starts: false)
    try store.sql("CREATE TABLE a(id INTEGER PRIMARY KEY)")
    return store
  }

  /// What another user owns, root removes as well.
  private static func tidy(_ store: TestStore) { try? sh("chown -hR 0 \(store.scratch.path)") }

  private static func sh(_ script: String) throws {
    let outcome = try run(["/bin/sh", "-ec", script])
    #expect(outcome.status == 0, "\(script): \(outcome.error)")
  }
}
