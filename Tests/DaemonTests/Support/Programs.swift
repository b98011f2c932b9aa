import Glibc
import CascadeModel
import CascadeSystem

/// The programs that are tested: those that were built with the tests.
enum Programs {
  static let cascaded = path(of: "cascaded")
  static let cascadectl = path(of: "cascadectl")

  private static func path(of name: String) -> String {
    let tests = CommandLine.arguments[0]
    let directory = tests.lastIndex(of: "/").map { tests[..<$0] } ?? "."
    return "\(directory)/\(name)"
  }
}

/// What a program that ran to its end had to say.
struct Outcome {
  let ending: Subprocess.Ending
  let output: String
  let error: String

  var status: CInt {
    if case .exit(let status) = ending { status } else { -1 }
  }

  /// The one JSON value of the output.
  var json: JSON {
    get throws { try JSON.parse(output) }
  }

  /// A JSON value a line.
  var lines: [JSON] {
    get throws { try output.split(separator: "\n").map { try JSON.parse(String($0)) } }
  }
}

/// Runs a program to its end.
func run(
  _ arguments: [String], environment: [String] = [], directory: String? = nil,
  input text: String = "", limit: Duration = .seconds(60)
) throws -> Outcome {
  let scratch = try Scratch()
  try scratch.write("input", text)
  let input = try scratch.directory.file("input")
  let program = try Running(
    arguments, environment: environment, directory: directory, input: input)
  return try program.finish(limit)
}

/// A program whose output is read while it runs.
final class Running {
  let process: Subprocess
  private let output: FileDescriptor
  private let error: FileDescriptor
  private var text: [UInt8] = []
  private let name: String

  init(
    _ arguments: [String], environment: [String] = [], directory: String? = nil,
    input: borrowing FileDescriptor
  ) throws {
    let output = try Pipe()
    let error = try Pipe()
    process = try Subprocess(
      arguments, environment: environment, directory: directory, input: input,
      output: output.writing, error: error.writing)
    self.output = output.takeReading()
    self.error = error.takeReading()
    name = arguments.joined(separator: " ")
  }

  /// Waits until the output has so many lines, and returns them.
  func lines(_ count: Int, limit: Duration = .seconds(30)) throws -> [String] {
    let deadline = Deadline(limit)
    while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
      if try read(output, into: &text, deadline) == 0 { break }
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func finish(_ limit: Duration = .seconds(30)) throws -> Outcome {
    let deadline = Deadline(limit)
    while try read(output, into: &text, deadline) > 0 {}
    var complaint: [UInt8] = []
    while try read(error, into: &complaint, deadline) > 0 {}
    return Outcome(
      ending: process.wait(), output: String(decoding: text, as: UTF8.self),
      error: String(decoding: complaint, as: UTF8.self))
  }

  private func read(
    _ pipe: borrowing FileDescriptor, into bytes: inout [UInt8], _ deadline: Deadline
  ) throws -> Int {
    while true {
      if let count = try pipe.read(into: &bytes, upTo: 1 << 16) { return count }
      let left = max(0, deadline.milliseconds)
      if try !pipe.waitBlocking(for: .readable, milliseconds: left) {
        throw TooLate(description: "\(name) did not end in time")
      }
    }
  }
}

/// Both ends of a pipe, of which the writing one is for another process.
struct Pipe: ~Copyable {
  let reading: FileDescriptor
  let writing: FileDescriptor

  init() throws {
    var ends: [CInt] = []
    try FileDescriptor.withPipe { ends = [$0.release(), $1.release()] }
    // Few programs write on where a pipe is full and does not wait.
    _ = fcntl(ends[1], F_SETFL, 0)
    reading = FileDescriptor(owning: ends[0])
    writing = FileDescriptor(owning: ends[1])
  }

  /// Closes the writing end.
  consuming func takeReading() -> FileDescriptor { reading }
}
