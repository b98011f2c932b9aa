internal import CascadeInspect
internal import CascadeModel
internal import CascadeSystem
internal import Glibc

/// `inspect` and `suggest`: they read a database themselves, without a daemon.
enum InspectCommand {
  private enum Report {
    case text, html(String), dot, svg
  }

  static func inspect(_ arguments: inout Arguments) throws -> Commands.Local {
    var options = Inspect.Options()
    options.root = try arguments.option("--root")
    let report = try report(&arguments)
    let path = try arguments.operand("database")
    if case .html(let file) = report {
      if try FileStatus.areSame(file, path) { throw UsageError("the report needs another file") }
      options.wantsExamples = true
    }
    return { output in
      let inspection = try read(path, options, output)
      try show(inspection, report, output)
      return EX_OK
    }
  }

  static func suggest(_ arguments: inout Arguments) throws -> Commands.Local {
    let path = try arguments.operand("database")
    return { output in
      let text = SuggestedModel(try read(path, Inspect.Options(), output)).text
      if output.json { return try show(["model": .string(text)], output) }
      if !output.quiet { try Output.write(text) }
      return EX_OK
    }
  }

  private static func report(_ arguments: inout Arguments) throws -> Report {
    let file = try arguments.option("--html")
    let format = try arguments.option("--format")
    if [arguments.json, file != nil, format != nil].count(where: { $0 }) > 1 {
      throw UsageError("one of --json, --html and --format")
    }
    switch format {
    case "dot": return .dot
    case "svg": return .svg
    case nil: return file.map(Report.html) ?? .text
    case let name?: throw UsageError("\"\(name)\" is no format: dot, svg")
    }
  }

  private static func show(_ json: JSON, _ output: Output) throws -> CInt {
    try output.show(json) { _ in "" }
    return EX_OK
  }

  private static func show(
    _ inspection: Inspection, _ report: Report, _ output: Output
  ) throws {
    switch report {
    case .html(let file): try write(inspection.html, to: file)
    case .dot where !output.quiet: try Output.write(inspection.dot + "\n")
    case .svg where !output.quiet: try Output.write(inspection.svg)
    default:
      let lines = inspection.lines(width: StandardStream.output.width ?? 100)
      try output.show(inspection.json, lines.map(line))
    }
  }

  private static func line(_ line: ReportLine) -> ScreenLine {
    var shown = ScreenLine()
    for (text, emphasis) in line.parts { shown.add(text, style(emphasis)) }
    return shown
  }

  private static func style(_ emphasis: ReportLine.Emphasis) -> TextStyle {
    switch emphasis {
    case .plain: .plain
    case .title: .bold
    case .soft: .dim
    case .good: .green
    case .bad: .red
    }
  }

  /// It shows rows of the database, so that only its user may read it at first.
  private static func write(_ text: String, to path: String) throws {
    if path == "-" { return try Output.write(text) }
    do {
      let file = try FileDescriptor.open(path, .readWrite(create: true), mode: 0o600)
      try file.truncate()
      try file.writeAll(Array(text.utf8))
    } catch {
      throw Failure("cannot write \(path): \(error)", EX_IOERR)
    }
  }

  private static func read(
    _ path: String, _ options: Inspect.Options, _ output: Output
  ) throws -> Inspection {
    var options = options
    let line = InspectLine(output)
    options.progress = line.show
    defer { line.clear() }
    do {
      return try Inspect.file(path, options)
    } catch let error as InspectError {
      throw Failure(error.description.printable, status(error.kind))
    }
  }

  private static func status(_ kind: InspectError.Kind) -> CInt {
    switch kind {
    case .missing: EX_UNAVAILABLE
    case .noDatabase: EX_DATAERR
    case .busy: EX_TEMPFAIL
    case .notAllowed: EX_NOPERM
    case .unreadable: EX_NOINPUT
    }
  }
}

/// One line on a terminal that shows how far an inspection is.
private final class InspectLine {
  private var line: TerminalLine

  init(_ output: Output) { line = TerminalLine(output) }

  private static let barWidth = 20

  func show(_ progress: Inspect.Progress) {
    line.show(text(progress))
  }

  private func text(_ progress: Inspect.Progress) -> String {
    let width = (StandardStream.error.width ?? 80) - 1
    return String("\(bar(progress))\(progress.what.printable)".prefix(width))
  }

  private func bar(_ progress: Inspect.Progress) -> String {
    if progress.of == 0 { return "" }
    let filled = InspectLine.barWidth * min(progress.done, progress.of) / progress.of
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: InspectLine.barWidth - filled)
      + "] \(progress.done) of \(progress.of): "
  }

  func clear() { line.clear() }
}
