import CascadeModel
import CascadeSystem
import Testing

/// What listings leave out when they are asked to.
@Suite struct ListingOptionTests {
  @Worker @Test("Of many batches, the last ones or those since a time")
  func batches() throws {
    let store = try TestStore()
    for key in 1...4 {
      let put = #"{"changes": [{"put": ["a", \#(key)]}]}"#
      #expect(try store.ctl("apply", "-", input: put).status == 0)
      let delete = #"{"changes": [{"delete": ["a", \#(key)]}]}"#
      #expect(try store.ctl("apply", "-", input: delete).status == 0)
    }
    func numbers(_ arguments: String...) throws -> [Int64?] {
      let listed = try run(
        [Programs.cascadectl, "--store", store.path, "--json", "batches"] + arguments)
      return try listed.output.split(separator: "\n").map {
        try JSON.parse(String($0))["batch"]?.integer
      }
    }
    let all = try numbers()
    #expect(all.count == 4)
    #expect(try numbers("--last", "2") == Array(all.suffix(2)))
    #expect(try numbers("--since", "1h") == all)
    #expect(try numbers("--since", "2100-01-01") == [])
    #expect(try store.ctl("batches", "--since", "never").status == 64)
    #expect(try store.ctl("batches", "--last", "0").status == 64)
  }

  @Worker @Test("Only the stores in trouble")
  func trouble() throws {
    let host = try Host()
    for store in ["good", "bad"] { try host.model(store) }
    try host.scratch.write("bad.db", String(repeating: "no database ", count: 1_000))
    try host.start()
    try host.wait(for: "bad", toBe: "degraded")
    try host.wait(for: "good", toBe: "ok")
    let status = try host.ctl("--json", "status", "--not-ok").json["stores"]?.array
    #expect(status?.map { $0["store"]?.string } == [host.path("bad")])
    #expect(try !host.ctl("status", "--not-ok").output.contains("good.db"))
  }
}
