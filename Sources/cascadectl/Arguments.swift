/// The command line: global options in any position, then a command with its own options.
struct Arguments {
  var socket: String?
  var store: String?
  var instance: String?
  var json = false
  var quiet = false
  var wantsHelp = false
  var wantsVersion = false
  private var rest: [String] = []

  init(_ arguments: [String]) throws {
    var arguments = arguments[...]
    while let argument = arguments.popFirst() {
      switch argument {
      case "--socket": socket = try Arguments.value(of: argument, &arguments)
      case "--store": store = try Arguments.value(of: argument, &arguments)
      case "--instance": instance = try Arguments.value(of: argument, &arguments)
      case "--json": json = true
      case "--quiet", "-q": quiet = true
      case "--help", "-h": wantsHelp = true
      case "--version": wantsVersion = true
      case "--":
        rest.append(contentsOf: [argument] + arguments)
        arguments = []
      default: try keep(argument)
      }
    }
  }

  /// Splits `--store=PATH` into `--store PATH`.
  private mutating func keep(_ argument: String) throws {
    guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else {
      return rest.append(argument)
    }
    let value = String(argument[argument.index(after: equals)...])
    switch argument[..<equals] {
    case "--socket": socket = value
    case "--store": store = value
    case "--instance": instance = value
    case let option: rest += [String(option), value]
    }
  }

  static func value(
    of option: String, _ arguments: inout ArraySlice<String>
  ) throws -> String {
    guard let value = arguments.popFirst() else { throw UsageError("\(option) needs a value") }
    return value
  }

  /// Takes the command. In `-- COMMAND OPERAND`, the `--` stays in front of the operands.
  mutating func command() -> String? {
    rest.firstIndex { $0 != "--" }.map { rest.remove(at: $0) }
  }

  /// Takes an option of the command and its value.
  mutating func option(_ name: String) throws -> String? {
    guard let index = optionIndex(name) else { return nil }
    guard index + 1 < rest.count else { throw UsageError("\(name) needs a value") }
    defer { rest.removeSubrange(index...index + 1) }
    return rest[index + 1]
  }

  mutating func flag(_ name: String) -> Bool {
    guard let index = optionIndex(name) else { return false }
    rest.remove(at: index)
    return true
  }

  private func optionIndex(_ name: String) -> Int? {
    rest.prefix { $0 != "--" }.firstIndex(of: name)
  }

  /// The remaining arguments, after all options were taken.
  mutating func operands() throws -> [String] {
    let end = rest.firstIndex(of: "--") ?? rest.count
    if let option = rest[..<end].first(where: { $0.hasPrefix("-") && $0 != "-" }) {
      throw UsageError("unknown option \(option)")
    }
    defer { rest = [] }
    return Array(rest[..<end] + rest[end...].dropFirst())
  }

  mutating func operand(_ what: String) throws -> String {
    let operands = try operands()
    if operands.count != 1 { throw UsageError("expected one \(what)") }
    return operands[0]
  }

  mutating func noOperands() throws {
    if let extra = try operands().first { throw UsageError("unexpected argument \"\(extra)\"") }
  }

  mutating func numberOption(_ name: String) throws -> Int64? {
    try option(name).map(Arguments.number)
  }

  mutating func number(_ what: String) throws -> Int64 {
    try Arguments.number(operand(what))
  }

  private static func number(_ text: String) throws -> Int64 {
    guard let number = Int64(text) else { throw UsageError("\"\(text)\" is not a number") }
    return number
  }
}
