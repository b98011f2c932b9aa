import Glibc
import CascadeSQLite
import CascadeSystem

/// A store with an application's tables, the daemon that serves it, and the processes that write.
///
/// The application is in Tests/Soak: its schema and the model, the writers, and the two questions:
/// what is missing at this instant, and what was left or lost at the end.
final class Soak {
  let store: TestStore
  private var writers: [WriterProcess] = []
  private let missing: String
  private let left: String

  init(seed: UInt64, writers count: Int, writes: Int) throws {
    let sources = try Directory.open(Soak.path)
    missing = try sources.text("missing.sql")
    left = try sources.text("left.sql")
    store = try TestStore(
      model: sources.text("model.json"), schema: sources.text("schema.sql"), starts: false)
    try store.start()
    for number in 0..<count {
      writers.append(
        try WriterProcess([
          "\(Soak.path)/writer.py", store.path, expected(number), "\(number)", "\(seed)",
          "\(writes / count)",
        ]))
    }
  }

  private static var path: String {
    let file = #filePath
    let tests = file.firstRange(of: "/DaemonTests/").map { file[..<$0.lowerBound] } ?? ""
    return "\(tests)/Soak"
  }

  private func expected(_ number: Int) -> String { store.scratch.path("expected\(number).db") }

  var isOver: Bool { get throws { try writers.allSatisfy { try $0.isOver } } }

  /// What the writers complain about: nothing.
  func finish() -> [String] { writers.map { $0.finish() }.filter { $0 != "" } }

  /// What no writer ever deletes, and some row refers to, and which is not there.
  func missingNow() throws -> String { try store.sql("BEGIN; \(missing) COMMIT") }

  func leftAtTheEnd() throws -> String {
    let attached = writers.indices.map { "ATTACH '\(expected($0))' AS w\($0);" }
    return try store.sql(attached.joined() + left)
  }
}

/// A process of the application.
private final class WriterProcess {
  private let process: Subprocess
  /// At its end when the writer is.
  private let life: FileDescriptor
  private let complaints: Scratch

  init(_ arguments: [String]) throws {
    let output = try Pipe()
    complaints = try Scratch()
    let error = try complaints.directory.file("stderr", .createNew)
    let input = try FileDescriptor.open("/dev/null")
    // -B: no compiled files among the sources.
    process = try Subprocess(
      ["/usr/bin/python3", "-B"] + arguments, input: input, output: output.writing, error: error)
    life = output.takeReading()
  }

  var isOver: Bool { get throws { try life.waitBlocking(for: .readable, milliseconds: 0) } }

  func finish() -> String {
    let ending = process.wait()
    let text = (try? complaints.directory.text("stderr")) ?? ""
    return ending == .exit(0) && text.isEmpty ? "" : "\(ending) \(text)"
  }
}
