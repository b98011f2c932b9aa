import CascadeModel
import CascadeSystem
import Testing

/// What others made to speak with such daemons, and to read what they say.
@Suite struct ForeignTests {
  private static let python = ["/usr/bin/env", "python3"]

  /// Where PyPI's packages are not, there is nobody to ask.
  private static func has(_ module: String) -> Bool {
    (try? run(python + ["-c", "import \(module)"], environment: path))?.status == 0
  }

  private static let path = ["PATH", "HOME", "PYTHONPATH"].compactMap { name in
    Process.environment(name).map { "\(name)=\($0)" }
  }

  private static func script(_ name: String) -> String {
    let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
    return "/\(tests)/Foreign/\(name)"
  }

  @Worker @Test(.enabled(if: has("varlink"), "there is no varlink package for Python"))
  func aVarlinkClientIntrospectsAndCallsEverything() throws {
    let store = try TestStore()
    let client = try run(
      ForeignTests.python
        + [ForeignTests.script("varlink_client.py"), store.socket, store.path],
      environment: ForeignTests.path)
    #expect(client.status == 0, "\(client.error)")
    let lines = client.output.split(separator: "\n")
    #expect(lines.contains("Apply 1"))
    #expect(lines.contains("Undo io.cascaded.Control.NoSuchThing"))
    #expect(lines.contains("Attach 1"))
  }

  @Worker
  @Test(.enabled(if: has("prometheus_client"), "there is no prometheus_client package for Python"))
  func prometheusReadsTheMetrics() throws {
    let store = try TestStore(
      model: """
        { relationships: [{ name: "r", from: "b", to: "a",
            inverse: { name: "rs", deleteRule: "cascade" } }] }
        """, name: "a \"quoted\" \\ store.db")
    try store.apply(
      """
      {"changes": [{"put": ["a", "1"]}, {"put": ["b", "1"]},
        {"link": {"name": "r", "from": ["b", "1"], "to": ["a", "1"]}}]}
      """)
    try store.apply(#"{"changes": [{"delete": ["a", "1"]}]}"#)
    try store.enqueue("bad.json", "{")
    try store.waitUntil("it is rejected") { try store.count(in: "rejected") == 2 }
    let text = try store.ctl("metrics").output
    let parser = try run(
      ForeignTests.python + [ForeignTests.script("metrics.py")], environment: ForeignTests.path,
      input: text)
    #expect(parser.status == 0, "\(parser.error)")
    let lines = parser.output.split(separator: "\n")
    for line in [
      "cascaded_build_info{version=\(Release.version)} 1", "cascaded_store_up{} 1",
      "cascaded_deletions_total{rule=deleteSourceIfDestinationDeleted} 1",
      "cascaded_deletions_total{rule=explicit} 1", "cascaded_rejected_files{} 1",
      "cascaded_spool_files{state=rejected} 1", "cascaded_files_total{outcome=applied} 2",
      "cascaded_held_plans{} 0",
      "cascaded_overdue_rows{} 0", "cascaded_overdue_seconds{} 0",
    ] { #expect(lines.contains { $0 == line }, "\(line)\n\(parser.output)") }
    #expect(lines.contains { $0.hasPrefix("cascaded_lock_hold_seconds_bucket{le=0.01}") })
    #expect(lines.contains { $0.hasPrefix("cascaded_last_sweep_seconds{}") })
  }
}
