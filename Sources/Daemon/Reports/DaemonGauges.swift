internal import CascadeModel
internal import CascadeSystem

/// The current measurements of the daemon itself.
struct DaemonGauges {
  /// When the models were last read, in milliseconds since 1970, and whether all of them are served.
  let lastReload: Int64
  let isReloadGood: Bool
  let process: ProcessUse?
}

extension Stores {
  var gauges: DaemonGauges {
    DaemonGauges(
      lastReload: lastReload, isReloadGood: complaints.isEmpty,
      process: ProcessUse.now)
  }
}

extension Metrics {
  mutating func add(_ daemon: DaemonGauges, at now: Int64) {
    add(
      "cascaded_build", .info, "The version of the daemon.",
      [Sample(labels: [("version", Release.version)], value: 1)])
    gauge(
      "cascaded_last_reload_successful", "Whether all models are served as they were last read.",
      daemon.isReloadGood ? 1 : 0)
    gauge(
      "cascaded_last_reload_seconds", "How long ago the models were last read.",
      Double(max(0, now - daemon.lastReload)) / 1_000)
    guard let process = daemon.process else { return }
    gauge("cascaded_open_descriptors", "Open file descriptors.", Double(process.descriptors))
    gauge(
      "cascaded_max_descriptors", "How many file descriptors may be open.",
      Double(process.mostDescriptors))
    gauge("cascaded_threads", "Threads of the daemon.", Double(process.threads))
  }

  private mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    add(name, .gauge, help, [Sample(value: value)])
  }
}
