struct UsageError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
  init(_ text: String) { self.text = text }
}

/// The options of the command line.
struct Options {
  private(set) var operands: [String] = []
  private(set) var model: String?
  private(set) var directory: String?
  private(set) var socket: String?
  private(set) var checksConfiguration = false
  private(set) var detaches = false
  private(set) var wantsHelp = false
  private(set) var wantsVersion = false

  init(_ arguments: [String]) throws {
    var rest = arguments.flatMap(Options.split)[...]
    while let argument = rest.popFirst() { try take(argument, &rest) }
    if checksConfiguration && operands.isEmpty && model == nil && directory == nil {
      throw UsageError("--check-config needs a FILE or DIR")
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
    case let option where option.hasPrefix("-"): throw UsageError("unknown option \(option)")
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
