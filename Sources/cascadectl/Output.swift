internal import Glibc
internal import CascadeModel
internal import CascadeSystem

/// The output of a command: JSON for programs, sentences for people, only errors with `--quiet`.
struct Output {
  let json: Bool
  let quiet: Bool

  /// Prints one object on one line, or the text that `sentences` makes of it. A failure is printed
  /// even with `--quiet`.
  func show(_ value: JSON, wentWrong: Bool = false, _ sentences: (JSON) -> String) throws {
    if quiet {
      if wentWrong { Output.complain(sentences(value)) }
      return
    }
    let text = json ? value.text : sentences(value)
    if !text.isEmpty { try Output.write(text + "\n") }
  }

  /// Prints one object on one line, or lines that have colours on a terminal.
  func show(_ value: JSON, _ lines: [ScreenLine]) throws {
    if json || quiet { return try show(value) { _ in "" } }
    let hasColors = StandardStream.output.hasColors
    let text = lines.map { $0.rendered(.max, hasColors: hasColors) }.joined(separator: "\n")
    try Output.writeUnchanged(text + "\n")
  }

  /// Prints one object per line.
  func list(_ values: [JSON], _ sentence: (JSON) -> String) throws {
    if quiet || values.isEmpty { return }
    let lines = values.map { json ? $0.text : sentence($0) }
    try Output.write(lines.joined(separator: "\n") + "\n")
  }

  /// Writes to standard output. If that fails, the command fails, so that partial output is not
  /// taken for complete. If the reader closed the pipe, there is no message.
  static func write(_ text: String) throws {
    try writeUnchanged(text.escapingControls(keepingLines: true))
  }

  /// Writes a line, or several, to standard error.
  static func complain(_ text: String) {
    StandardStream.error.write(text.escapingControls(keepingLines: true) + "\n")
  }

  private static func writeUnchanged(_ text: String) throws {
    do {
      try StandardStream.output.writeAll(text)
    } catch let error as SystemError {
      let isEnough = error.isDisconnection
      throw Failure(isEnough ? "" : "cannot write the output: \(error)", EX_IOERR)
    }
  }

  /// Confirms success to programs. For people, there is no output.
  func acknowledge(_ value: JSON) throws {
    if json { try show(value) { _ in "" } }
  }

  func problem(_ text: String) {
    if !json { Output.complain(text) }
  }
}

extension StandardStream {
  /// A terminal that has colours, and whose user wants them.
  var hasColors: Bool {
    isTerminal && (Process.environment("NO_COLOR") ?? "").isEmpty
      && Process.environment("TERM") != "dumb"
  }
}

/// Texts for people, from the daemon's JSON.
enum DisplayText {
  /// What a batch or a job did with nodes.
  static func done(_ work: JSON) -> String {
    work["cause"] == "marked" || work["subject"]?["softDelete"] != nil ? "marked" : "deleted"
  }

  /// As in `3 of albums, 1 of songs`.
  static func byCollection(_ json: JSON) -> String {
    (json["byCollection"]?.object ?? []).map { "\($0.value.text) of \($0.name.printable)" }
      .joined(separator: ", ")
  }

  static func node(_ json: JSON?) -> String {
    json.flatMap(Node.init(json:))?.description ?? json?.text ?? "?"
  }

  static func destination(_ json: JSON?) -> String {
    guard let file = json?["file"]?.string else { return node(json) }
    return "\(json?["root"]?.string ?? ""):\(file)".printable
  }

  static func edge(_ json: JSON?) -> String {
    guard let json else { return "" }
    let rules = json["rules"]?.array?.compactMap(\.string).joined(separator: ", ") ?? ""
    let text =
      "\(node(json["from"])) -\(json["name"]?.string?.printable ?? "")-> "
      + destination(json["to"])
    return rules.isEmpty ? text : "\(text)  [\(rules)]"
  }

  static func count(_ json: JSON?, _ one: String, _ many: String) -> String {
    Int(json?.integer ?? 0).counted(one, many)
  }

  static func texts(_ list: JSON?) -> [String] {
    (list?.array ?? []).compactMap { $0.string?.printable }
  }

  /// The first elements of a list, and how many of `count` are left out.
  static func firstFew(_ list: JSON?, of count: JSON?, _ describe: (JSON) -> String) -> [String] {
    let shown = (list?.array ?? []).prefix(mostShown).map { "  - \(describe($0))" }
    let rest = Int(count?.integer ?? 0) - shown.count
    return shown + (rest > 0 && !shown.isEmpty ? ["  … and \(rest) more"] : [])
  }

  /// The first nodes that must stay, with the reasons.
  static func denials(_ reasons: [JSON]) -> [String] {
    let shown = reasons.prefix(mostShown).map { "  ! \(reason($0))" }
    let rest = reasons.count - shown.count
    return shown + (rest > 0 ? ["  … and \(rest) more"] : [])
  }

  /// The longest list for people; `--json` lists all.
  private static let mostShown = 20

  static func reason(_ json: JSON) -> String {
    var place = ""
    if let line = json["line"]?.integer { place += "line \(line)" }
    if let column = json["column"]?.integer { place += ", column \(column)" }
    if let path = json["path"]?.string { place += place.isEmpty ? path : ", \(path)" }
    let message = json["message"]?.string ?? json.text
    return (place.isEmpty ? message : "\(place): \(message)").printable
  }
}
