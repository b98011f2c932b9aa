import CascadeModel
import CascadeSystem
import Testing

/// Files that nobody should write. Each is rejected with a reason, the good ones between them are
/// applied, and the daemon stays small and answers.
@Suite struct HostileTests {
  private static let count = 1_000

  @Worker @Test func survivesAThousandHostileFiles() throws {
    var random = Seeded()
    print("hostile files: seed \(random.seed)")
    let store = try TestStore()
    try store.end()
    for number in 0..<HostileTests.count {
      try HostileTests.addHostile(number, to: store, &random)
      if number % 10 == 0 {
        try store.enqueue("\(number)-good.json", #"{"changes": [{"put": ["good", "\#(number)"]}]}"#)
      }
    }
    let queued = try store.count(in: "new")
    try store.start()
    try store.waitUntil("each is judged", limit: .seconds(120)) { try store.count(in: "new") == 0 }
    try HostileTests.expectJudged(store, bad: queued - HostileTests.count / 10, random.seed)
    let peak = try memory(of: store.identifier, "VmHWM")
    print("hostile files: at most \(peak) kB, \(try memory(of: store.identifier, "VmRSS")) kB now")
    #expect(peak < 200_000)
    #expect(try store.ctl("status").status == 0)
    #expect(try store.end() == .exit(0))
  }

  private static func expectJudged(_ store: TestStore, bad: Int, _ seed: UInt64) throws {
    #expect(try store.integers("SELECT count(*) FROM cascade_ledger") == [Int64(count / 10)])
    #expect(try store.ctl("nodes", "good").output.split(separator: "\n").count == count / 10)
    let rejected = try store.ctl("--json", "spool").lines
    #expect(rejected.count == bad, "seed \(seed)")
    for file in rejected {
      let reason = file["reasons"]?.array?.first?["message"]?.string ?? ""
      #expect(!reason.isEmpty, "seed \(seed): \(file.text)")
    }
  }

  /// One of every kind, again and again; some names are hostile as well.
  private static func addHostile(
    _ number: Int, to store: TestStore, _ random: inout Seeded
  ) throws {
    let queue = "\(store.spool)/new"
    switch number % 50 {
    case 1: Make.fifo("\(queue)/\(number).json")
    case 2: Make.link("\(queue)/\(number).json", to: "/etc/passwd")
    case 3: Make.link("\(queue)/\(number).json", to: "/no/where")
    case 4: try Make.socket("\(queue)/\(number).json")
    case 5: _ = try Directory.openOrMake("\(queue)/\(number).json")
    case 6 where number < 100: try Make.sparse("\(queue)/\(number).json", bytes: 65 << 20)
    case 7 where number < 100: try Make.sparse("\(queue)/\(number).ndjson", bytes: 65 << 20)
    case 8 where number < 100: try Make.sparse("\(queue)/\(number).json", bytes: 64 << 20)
    case 9: try store.enqueue(FileName("\(number).txt"), "{\"changes\": []}")
    default: try store.enqueue(name(number, &random), bytes(number, &random))
    }
  }

  private static func name(_ number: Int, _ random: inout Seeded) -> FileName {
    let end = number % 3 == 0 ? "ndjson" : "json"
    switch number % 20 {
    case 10: return FileName("\(number)\nline\u{1b}[2J.\(end)")
    case 11: return FileName("\(number)\"quote'`$(x).\(end)")
    case 12:
      let start = "\(number)"
      let rest = 254 - start.utf8.count - end.utf8.count
      return FileName(start + String(repeating: "n", count: rest) + ".\(end)")
    case 13: return FileName(bytes: Array("\(number)".utf8) + [0xff, 0xfe, 0x80] + ".json".utf8)
    default: return FileName("\(number).\(end)")
    }
  }

  private static func bytes(_ number: Int, _ random: inout Seeded) -> [UInt8] {
    let whole = Array(#"{"id": "x\#(number)", "changes": [{"put": ["bad", "k"]}]}"#.utf8)
    let text = texts.randomElement(using: &random)!
    switch number % 4 {
    case 0: return Array(whole.prefix(Int.random(in: 1..<whole.count, using: &random)))
    case 1: return damaged(whole, &random)
    case 2: return (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
    default: return Array("{\"changes\": [\(text)]}".utf8)
    }
  }

  /// With a byte that is never allowed where it lands.
  private static func damaged(_ bytes: [UInt8], _ random: inout Seeded) -> [UInt8] {
    let bad: [UInt8] = [0x00, 0xff, 0xc0, 0x80, 0x0b, 0x1f]
    var bytes = bytes
    let index = Int.random(in: 0...bytes.count, using: &random)
    bytes.insert(bad.randomElement(using: &random)!, at: index)
    return bytes
  }

  private static let texts = [
    String(repeating: "[", count: 100_000),
    #"{"put": ["bad", "1"], "value": "#
      + String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000) + "}",
    #"{"put": ["bad", "1"], "put": ["bad", "2"]}"#,
    #"{"put": ["bad", "1"], "value": {"a": 1, "a": 2}}"#,
    #"{"put": ["bad", "1"], "value": {"a": 1, "\u0061": 2}}"#,
    #"{"put": "bad/1"}"#, #"{"put": ["bad"]}"#, #"{"put": ["bad", null]}"#, #"{"put": 1}"#,
    #"{"put": ["bad", 1e400]}"#, #"{"put": ["bad", 99999999999999999999]}"#,
    #"{"put": ["bad", "1"], "value": 1e999999999}"#, #"{"put": ["cascade_node", "1"]}"#,
    #"{"put": ["a/b", "1"]}"#, #"{"put": ["", "1"]}"#, #"{"put": ["bad", "\ud800"]}"#,
    #"{"patch": ["bad", "none"], "set": {}}"#, #"{"flush": false}"#, "null", "[]", "1", "{}",
    #"{"link": {"name": "n", "from": ["bad", "1"], "to": ["bad", "2"], "rules": ["no"]}}"#,
    #"{"link": {"name": "n", "from": ["bad", "1"], "to": {"file": "../x", "root": "media"}}}"#,
    #"{"put": ["bad", "1"], "edges": [{"name": "e", "to": ["bad", "2"], "rules": [4, 16]}]}"#,
    #"{"put": ["bad", "1"]}, "#, #"{"put": ["bad", "1"]} {"put": ["bad", "2"]}"#,
  ]
}
