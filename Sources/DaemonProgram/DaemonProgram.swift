internal import CascadeModel
package import CascadeStore
internal import CascadeSystem
package import Daemon
internal import Glibc
internal import SystemdService

/// A daemon's command line. The programs of all engines have it in common; each says what is its
/// engine's own.
package protocol DaemonProgram: SendableMetatype {
  static var name: String { get }
  static var usage: String { get }
  static var engine: any StoreEngine { get }
  /// What it serves, and what `--check-config` takes, in words.
  static var operand: String { get }
  static var checkable: String { get }

  static func configuration(_ options: Options) throws -> Configuration
  static func check(_ options: Options) -> CInt
  static func detach(_ options: Options) throws -> CInt
  /// Nil for an error that any engine may have.
  nonisolated static func engineStatus(_ error: any Error) -> CInt?
}

extension DaemonProgram {
  package static func main() -> Never {
    StandardStream.openMissing()
    // Signals are blocked before any thread exists, because a thread that does not block them would
    // be killed by them. SIGPIPE comes when the log's reader is gone. SIGXFSZ comes when a file may
    // not grow; without the signal, that is an error like a full disk.
    Signals.block([SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ])
    Process.raiseDescriptorLimit()
    Process.shareHeap()
    exit(run(Process.arguments))
  }

  /// `arguments` is nil if an argument is not valid text.
  private static func run(_ arguments: [String]?) -> CInt {
    do {
      guard let arguments else { throw UsageError("an argument is not UTF-8") }
      return try perform(Options(arguments, operand: operand, checkable: checkable))
    } catch let error as UsageError {
      complain("\(name): \(error.text)\n\(usage)")
      return EX_USAGE
    } catch let error as ConfigurationError {
      complain(error.description)
      return exitStatus(error)
    } catch {
      complain("\(name): \(error)")
      return exitStatus(error)
    }
  }

  private static func perform(_ options: Options) throws -> CInt {
    if options.wantsHelp { return say(usage) }
    if options.wantsVersion { return say("\(name) \(Release.version)") }
    if options.checksConfiguration { return check(options) }
    if options.detaches { return try detach(options) }
    return try serve(options)
  }

  private static func serve(_ options: Options) throws -> CInt {
    let daemon = try Daemon(engine, configuration(options), socketPath: options.socket)
    return EventLoop.run {
      do {
        try await daemon.run()
        return EX_OK
      } catch {
        Log.write(.error, "\(name): \(error)")
        return exitStatus(error)
      }
    }
  }

  /// The models of a directory, which has no socket of its own.
  package static func configuration(of directory: String, _ options: Options) throws
    -> Configuration
  {
    if options.socket == nil && Process.environment("LISTEN_FDS") == nil {
      throw UsageError("--config needs --socket PATH if systemd passes no socket")
    }
    return .directory(try Process.absolutePath(directory))
  }

  // MARK: - Results

  package static func say(detached store: String, _ report: DetachReport) -> CInt {
    let removed = [
      (report.triggers, "trigger", "triggers"), (report.tables, "table", "tables"),
      (report.indexes, "index", "indexes"),
    ].filter { !$0.0.isEmpty }.map { "removed \($0.0.count.counted($0.1, $0.2))" }
    let lines = removed.isEmpty ? ["nothing to remove"] : removed
    return say((["detached \(store)"] + lines).joined(separator: "\n  "))
  }

  package static func say(_ text: String) -> CInt {
    do {
      try StandardStream.output.writeAll(text.escapingControls(keepingLines: true) + "\n")
      return EX_OK
    } catch {
      complain("\(name): cannot write the output: \(error)")
      return EX_IOERR
    }
  }

  /// How many references a check of a model lists.
  package static var mostListed: Int { 20 }

  /// What the daemon would meet in a database, a line each.
  package static func say(_ findings: [SetupFinding], _ references: Findings) {
    var lines = findings.map { "\($0.kind.rawValue): \($0.message)" }
    lines += references.list.map { "\($0.kind): \($0.message)" }
    let rest = references.total - references.list.count
    if rest > 0 { lines.append("… and \(rest) more references and demands") }
    if !lines.isEmpty { _ = say(lines.joined(separator: "\n")) }
  }

  package static func complain(_ text: String) { StandardStream.error.write(text + "\n") }

  package nonisolated static func exitStatus(_ error: any Error) -> CInt {
    if let status = engineStatus(error) { return status }
    if let error = error as? SystemError {
      if error.isNotAllowed { return EX_NOPERM }
      return error.isAbsence || error.code == EISDIR ? EX_NOINPUT : EX_TEMPFAIL
    }
    if let error = error as? ConfigurationError {
      return error.isOfUnsafePaths ? EX_NOPERM : EX_CONFIG
    }
    if error is HarmfulOwnership || error is UnsafePath { return EX_NOPERM }
    return error is StoreError ? EX_DATAERR : EX_TEMPFAIL
  }
}
