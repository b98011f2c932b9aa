import Glibc
import CascadeModel
import CascadeSystem
import Testing

/// Three processes insert, update, replace and delete at full speed while sweeps run and the daemon
/// is killed: nothing that is still referenced is ever missing, and nothing that should have gone
/// is left at the end.
@Suite struct WriterSoakTests {
  private static let isLong = Process.environment("CASCADE_LONG") != nil
  private static let writes = isLong ? 1_000_050 : 30_000
  private static let kills = isLong ? 20 : 3

  @Worker @Test func losesNothingAndLeavesNothing() throws {
    var random = Seeded()
    let label = Comment(rawValue: "seed \(random.seed)")
    print("writers against sweeps: seed \(random.seed)")
    let soak = try Soak(seed: random.seed, writers: 3, writes: WriterSoakTests.writes)
    var kills = WriterSoakTests.kills
    while try !soak.isOver {
      // While the daemon is away nobody answers.
      try soak.store.ctl("sweep")
      #expect(try soak.missingNow() == "", label)
      if kills > 0, Int.random(in: 0..<4, using: &random) == 0 {
        try soak.store.end(SIGKILL)
        try soak.store.start()
        kills -= 1
      }
    }
    #expect(soak.finish() == [], label)
    try soak.store.waitUntil("the sweeps are done") {
      try soak.store.ctl("sweep").output.hasPrefix("nothing")
    }
    let left = try soak.leftAtTheEnd()
    #expect(left == "", label)
    let lines = try soak.store.ctl("--json", "check").lines
    let findings = lines.filter { $0["kind"] != "unreferenced" }
    #expect(findings.isEmpty, label)
  }
}
