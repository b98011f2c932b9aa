package struct UsageError: Error, CustomStringConvertible {
  let text: String
  package var description: String { text }
  package init(_ text: String) { self.text = text }
}

/// The options of the command line.
package struct Options {
  package private(set) var operands: [String] = []
  package private(set) var model: String?
  package private(set) var directory: String?
  package private(set) var socket: String?
  package private(set) var checksConfiguration = false
  package private(set) var detaches = false
  package private(set) var wantsHelp = false
  package private(set) var wantsVersion = false

  /// `operand` is what the program serves, and `checkable` what it can check, in words.
  init(_ arguments: [String], operand: String, checkable: String) throws {
    var rest = arguments.flatMap(Options.split)[...]
    while let argument = rest.popFirst() { try take(argument, &rest) }
    if operands.contains("") { throw UsageError("\(operand) is missing") }
    if checksConfiguration && detaches {
      throw UsageError("use only one of --check-config and --detach")
    }
    if checksConfiguration && operands.isEmpty && model == nil && directory == nil {
      throw UsageError("--check-config needs \(checkable)")
    }
  }

  private mutating func take(_ argument: String, _ rest: inout ArraySlice<String>) throws {
    switch argument {
    case "--model": model = try Options.value(of: argument, &rest)
    case "--config": directory = try Options.value(of: argument, &rest)
    case "--socket": socket = try Options.value(of: argument, &rest)
    case "--check-config": checksConfiguration = true
    case "--detach": detaches = true
    case "--help", "-h": wantsHelp = true
    case "--version": wantsVersion = true
    case "--":
      operands += rest
      rest = []
    case let option where option.hasPrefix("-") && option != "-":
      throw UsageError("unknown option \(option)")
    default: operands.append(argument)
    }
  }

  /// Splits `--model=FILE` into `--model FILE`.
  private static func split(_ argument: String) -> [String] {
    guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else {
      return [argument]
    }
    return [String(argument[..<equals]), String(argument[argument.index(after: equals)...])]
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst(), !value.isEmpty else {
      throw UsageError("\(option) needs a value")
    }
    return value
  }
}
