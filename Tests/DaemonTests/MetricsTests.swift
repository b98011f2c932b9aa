import CascadeModel
import CascadeSystem
import Testing

/// What `metrics` tells, and whether Prometheus takes it.
@Suite struct MetricsTests {
  private static let path = ["PATH", "HOME"].compactMap { name in
    Process.environment(name).map { "\(name)=\($0)" }
  }

  private static func promtool(_ arguments: [String], input: String = "") throws -> Outcome {
    try run(["/usr/bin/env", "promtool"] + arguments, environment: path, input: input)
  }

  private static let hasPromtool = (try? promtool(["--version"]))?.status == 0

  @Worker @Test(.enabled(if: hasPromtool, "there is no promtool"))
  func promtoolHasNothingToSayAboutTheMetrics() throws {
    let store = try MetricsTests.busyStore()
    let text = try store.ctl("metrics", "--format", "prometheus").output
    let check = try MetricsTests.promtool(["check", "metrics"], input: text)
    #expect(check.status == 0 && check.error.isEmpty, "\(check.output)\(check.error)")
  }

  @Worker @Test func theFormOfPrometheusNamesFamiliesLikeTheirSamples() throws {
    let store = try MetricsTests.busyStore()
    let lines = try store.ctl("metrics", "--format", "prometheus").output.split(separator: "\n")
    let types = Dictionary(
      uniqueKeysWithValues: lines.filter { $0.hasPrefix("# TYPE ") }.map { line in
        let words = line.split(separator: " ")
        return (words[2], words[3])
      })
    #expect(Set(types.values) == ["gauge", "counter", "histogram"])
    #expect(types["cascaded_deletions_total"] == "counter")
    for line in lines where !line.hasPrefix("#") {
      let name = line.prefix { $0 != "{" }
      let isTyped = ["", "_bucket", "_count", "_sum"].contains { end in
        name.hasSuffix(end) && types[name.dropLast(end.count)] != nil
      }
      #expect(isTyped, "\(line)")
    }
    #expect(lines.last?.hasPrefix("#") == false)
    #expect(try store.ctl("metrics").output.hasSuffix("# EOF\n"))
    #expect(try store.ctl("metrics", "--format", "json").status == 64)
  }

  /// Two daemons of a machine write for the same collector, which takes no series twice.
  @Worker @Test func everySeriesNamesItsStoreOrItsDaemon() throws {
    let store = try MetricsTests.busyStore()
    let labels = ["store=\"\(store.path)\"", "socket=\"\(store.socket)\""]
    for line in try store.ctl("metrics").output.split(separator: "\n") where !line.hasPrefix("#") {
      #expect(labels.contains { line.contains($0) }, "\(line)")
    }
  }

  @Worker @Test func tellsOfTheLastReload() throws {
    let host = try Host()
    try host.model("one")
    try host.start()
    try host.wait(for: "one", toBe: "ok")
    #expect(try MetricsTests.value("cascaded_last_reload_successful", of: host) == 1)
    try host.write("two.json", "{")
    #expect(try host.ctl("reload").status == 78)
    #expect(try MetricsTests.value("cascaded_last_reload_successful", of: host) == 0)
    let age = try #require(try MetricsTests.value("cascaded_last_reload_seconds", of: host))
    #expect(0..<30 ~= age)
    try host.remove("two.json")
    #expect(try host.ctl("reload").status == 0)
    #expect(try MetricsTests.value("cascaded_last_reload_successful", of: host) == 1)
  }

  @Worker @Test func tellsWhatTheDaemonUses() throws {
    let host = try Host()
    try host.model("one")
    try host.start()
    try host.wait(for: "one", toBe: "ok")
    let open = try #require(try MetricsTests.value("cascaded_open_descriptors", of: host))
    #expect(try abs(Int(open) - host.openFiles.split(separator: "\n").count) < 8)
    #expect(try MetricsTests.value("cascaded_max_descriptors", of: host)! > open)
    #expect(try MetricsTests.value("cascaded_threads", of: host)! >= 2)
    #expect(try MetricsTests.value("cascaded_stores", "state=\"ok\"", of: host) == 1)
    #expect(try MetricsTests.value("cascaded_stores", "state=\"held\"", of: host) == 0)
  }

  @Worker @Test("Of very many stores, each has at most ten series, and no counter goes back")
  func briefly() throws {
    let host = try Host()
    for number in 1...102 { try host.model("s\(number)") }
    try host.start()
    try host.waitUntil("all are served") {
      try MetricsTests.value("cascaded_stores", "state=\"ok\"", of: host) == 102
    }
    let put = #"{"changes": [{"put": ["a", "1"]}]}"#
    #expect(try host.ctl(of: "s7", "apply", "-", input: put).status == 0)
    let text = try host.ctl("metrics").output
    let stores = text.split(separator: "\n").filter { $0.contains("store=\"") }
    let counts = Dictionary(grouping: stores) { $0.split(separator: "\"")[1] }.mapValues(\.count)
    #expect(counts.count == 102 && counts.values.allSatisfy { 8...10 ~= $0 }, "\(counts)")
    #expect(Metric.value("cascaded_files_total", in: text) == 1)
    #expect(Metric.value("cascaded_disk_free_bytes", in: text)! > 0)
    let all = try host.ctl("metrics", "--all").output
    let ofOne = "store=\"\(host.path("s7"))\""
    #expect(Metric.value("cascaded_files_total", ofOne, in: all) == 1)
    #expect(Metric.value("cascaded_lock_hold_seconds_count", ofOne, in: all)! > 0)
    try host.remove("s7.json")
    #expect(try host.ctl("reload").status == 0)
    #expect(try MetricsTests.value("cascaded_files_total", of: host) == 1)
    #expect(try MetricsTests.value("cascaded_stores", "state=\"ok\"", of: host) == 101)
  }

  private static func value(_ name: String, _ labels: String = "", of host: Host) throws -> Double?
  {
    try Metric.value(name, labels, in: host.ctl("metrics").output)
  }

  /// It has a sample of every counter.
  private static func busyStore() throws -> TestStore {
    let store = try TestStore()
    try store.apply(#"{"changes": [{"put": ["a", "1"]}]}"#)
    try store.apply(#"{"changes": [{"delete": ["a", "1"]}]}"#)
    try store.ctl("sweep")
    return store
  }
}
