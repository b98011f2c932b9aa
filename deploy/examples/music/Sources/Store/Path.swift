/// The path that is named on the command line.
public func storePath() -> String? {
  CommandLine.arguments.count == 3 ? CommandLine.arguments[2] : nil
}
