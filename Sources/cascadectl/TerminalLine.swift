internal import CascadeModel
internal import CascadeSystem

/// One line on a terminal that is written again and again. Nothing is written where the standard
/// error output is no terminal, or was not asked for.
struct TerminalLine {
  private let isShown: Bool
  private var isWritten = false

  init(_ output: Output) {
    isShown = !output.json && !output.quiet && StandardStream.error.isTerminal
  }

  mutating func show(_ text: @autoclosure () -> String) {
    if !isShown { return }
    isWritten = true
    StandardStream.error.write("\r\u{1B}[K\(text().escapingControls())")
  }

  mutating func clear() {
    if isWritten { StandardStream.error.write("\r\u{1B}[K") }
    isWritten = false
  }
}
