internal import CascadeModel

/// Metrics as text.
struct Metrics {
  /// The textfile collector of node_exporter reads only the form of Prometheus. There, a family is named
  /// like its samples, and has one of fewer types.
  enum Format: String, CaseIterable {
    case openMetrics = "openmetrics"
    case prometheus
  }

  enum Kind: String {
    case gauge, counter, histogram, info
    case stateSet = "stateset"

    /// What its samples are named with, beside the family.
    var suffix: String { [.counter: "_total", .info: "_info"][self] ?? "" }
  }

  let format: Format
  /// The control socket of the daemon. Other daemons of the machine may write the same series.
  private let socket: String
  private(set) var text = ""

  struct Sample {
    /// Nil if it is of the whole daemon.
    var store: String?
    var labels: [(String, String)] = []
    let value: Double
  }

  init(in format: Format, of socket: String) { (self.format, self.socket) = (format, socket) }

  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    if samples.isEmpty { return }
    addHead(name, kind, help)
    for sample in samples { add(line: name + kind.suffix, sample) }
  }

  mutating func add(histogram name: String, _ help: String, _ stores: [(String?, Histogram)]) {
    if stores.isEmpty { return }
    addHead(name, .histogram, help)
    for (store, histogram) in stores {
      var total = 0
      for (index, count) in histogram.counts.enumerated() {
        total += count
        let bounds = histogram.bounds
        let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
        add(
          line: name + "_bucket",
          Sample(store: store, labels: [("le", bound)], value: Double(total)))
      }
      add(line: name + "_count", Sample(store: store, value: Double(total)))
      add(line: name + "_sum", Sample(store: store, value: histogram.sum))
    }
  }

  mutating func end() { if format == .openMetrics { text += "# EOF\n" } }

  private mutating func addHead(_ name: String, _ kind: Kind, _ help: String) {
    let isOld = format == .prometheus
    let family = isOld ? name + kind.suffix : name
    let type = isOld && [.info, .stateSet].contains(kind) ? .gauge : kind
    text += "# HELP \(family) \(help)\n# TYPE \(family) \(type.rawValue)\n"
  }

  private mutating func add(line name: String, _ sample: Sample) {
    let labels = [sample.store.map { ("store", $0) } ?? ("socket", socket)] + sample.labels
    let list = labels.map { "\($0)=\"\(Metrics.escaped($1))\"" }.joined(separator: ",")
    text += "\(name){\(list)} \(Metrics.number(sample.value))\n"
  }

  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
