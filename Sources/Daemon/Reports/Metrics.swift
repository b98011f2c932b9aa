internal import CascadeModel

/// Writes the metrics of all stores in the OpenMetrics text format.
struct Metrics {
  private(set) var text = ""

  struct Sample {
    let store: String
    var labels: [(String, String)] = []
    let value: Double
  }

  mutating func add(_ name: String, _ type: String, _ help: String, _ samples: [Sample]) {
    if samples.isEmpty { return }
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    let suffix = ["counter": "_total", "info": "_info"][type] ?? ""
    for sample in samples { add(line: name + suffix, sample) }
  }

  mutating func add(histogram name: String, _ help: String, _ stores: [(String, Histogram)]) {
    if stores.isEmpty { return }
    text += "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
    for (store, histogram) in stores {
      var total = 0
      for (index, count) in histogram.counts.enumerated() {
        total += count
        let bounds = Histogram.bounds
        let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
        add(
          line: name + "_bucket",
          Sample(store: store, labels: [("le", bound)], value: Double(total)))
      }
      add(line: name + "_count", Sample(store: store, value: Double(total)))
      add(line: name + "_sum", Sample(store: store, value: histogram.sum))
    }
  }

  mutating func end() { text += "# EOF\n" }

  private mutating func add(line name: String, _ sample: Sample) {
    let labels = (sample.store.isEmpty ? [] : [("store", sample.store)]) + sample.labels
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
