import CascadeSystem

/// A layer under a daemon: system calls fail, or the power is cut, as a plan says
/// (`Tests/Faults/faults.c`).
final class Faults {
  /// Kinds of system calls.
  enum Kind: Int64, CaseIterable {
    case write = 1
    case sync = 2
    case rename = 4
    case open = 8
    case truncate = 16
    case unlink = 32
    case mkdir = 64
  }

  enum Mode: Int64 {
    case once = 0
    /// Half of a write is written, and the next call fails.
    case partly = 1
    case lasting = 2
    /// What was not synced is lost.
    case cut = 3
  }

  struct Plan: CustomStringConvertible {
    var kinds: [Kind] = []
    /// The first call of these kinds that fails, counted from 1.
    var call: Int64 = 0
    var error: Int32 = 0
    var mode = Mode.once
    /// What a cut loses: with 0 all, otherwise a part.
    var seed: Int64 = 0

    var description: String {
      "\(mode), call \(call) of \(kinds.map { "\($0)" }), error \(error), seed \(seed)"
    }
  }

  private let scratch: Scratch
  private let directory: String
  private let library: String
  private var generation: Int64 = 0

  /// Only calls on what is below the directory are counted and fail.
  init(below directory: String) throws {
    self.directory = directory
    scratch = try Scratch("-faults")
    library = scratch.path("faults.so")
    let path = #filePath
    let tests = path.firstRange(of: "/DaemonTests/").map { path[..<$0.lowerBound] } ?? ""
    let compiled = try run(
      ["/usr/bin/cc", "-shared", "-fPIC", "-O1", "-o", library, "\(tests)/Faults/faults.c"],
      environment: ["PATH=/usr/bin:/bin"])
    if compiled.status != 0 { throw TooLate(description: compiled.error) }
    try plan(Plan())
  }

  var environment: [String] {
    ["LD_PRELOAD=\(library)", "FAULTS=\(scratch.path("plan"))", "FAULTS_BELOW=\(directory)"]
  }

  /// Counting begins again. An empty plan lets nothing fail.
  func plan(_ plan: Plan) throws {
    generation += 1
    let kinds = plan.kinds.reduce(0) { $0 | $1.rawValue }
    let fixed = [
      generation, kinds, plan.call, Int64(plan.error), plan.mode.rawValue, plan.seed,
    ]
    let bytes = (fixed + Array(repeating: 0, count: 2 + Kind.allCases.count)).flatMap { number in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    try FileDescriptor.open(scratch.path("plan"), .readWrite(create: true)).writeAll(bytes)
  }

  /// How many calls failed since the plan was made.
  var failed: Int64 { get throws { try numbers[7] } }

  /// How many calls there were since then.
  var calls: [Kind: Int64] {
    get throws { Dictionary(uniqueKeysWithValues: zip(Kind.allCases, try numbers[8...])) }
  }

  /// What the layer has of the plan, as `struct plan` says.
  private var numbers: [Int64] {
    get throws {
      let bytes = try scratch.directory.file("plan").readWhole(limit: 1_000) ?? []
      return stride(from: 0, to: bytes.count, by: 8).map { start in
        bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int64($1) }
      }
    }
  }
}
