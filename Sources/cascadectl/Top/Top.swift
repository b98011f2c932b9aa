internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Glibc

/// `top`: a live view of all stores on the terminal.
enum Top {
  static func command(_ arguments: inout Arguments) throws -> Commands.Live {
    if arguments.json || arguments.quiet {
      throw UsageError("top is for a terminal: use status and events --follow for programs")
    }
    try arguments.noOperands()
    return { connect in
      if !StandardStream.output.isTerminal {
        throw UsageError("top needs a terminal: use status, or events --follow")
      }
      // When the session has ended, the terminal is as it was.
      if let signal = try run(connect) { Terminal.endProgram(by: signal) }
      return EX_OK
    }
  }

  private static func run(_ connect: @escaping () throws -> ControlClient) throws -> CInt? {
    try TopSession(LiveConnection(connect), connect).run()
  }
}

/// One run of `top`. It asks the daemon twice a second, and writes only the lines that changed.
private final class TopSession {
  private let connect: () throws -> ControlClient
  private var connection: LiveConnection?
  private let terminal: Terminal
  private var state = TopState()
  private var screen = Screen()
  private var nextRefresh: Int64 = 0
  private let hasColors = StandardStream.output.hasColors

  private static let interval: Int64 = 500

  init(_ connection: LiveConnection, _ connect: @escaping () throws -> ControlClient) throws {
    self.connect = connect
    self.connection = connection
    terminal = try Terminal()
  }

  /// Returns nil if the user ended it, and otherwise the signal that did.
  func run() throws -> CInt? {
    while true {
      refresh()
      draw()
      let wait = max(0, nextRefresh - SystemClock.monotonic())
      switch try terminal.next(milliseconds: Int(wait)) {
      case .redraw: screen.reset()
      case .keys(let bytes): if press(TopKey.parse(bytes)) { return nil }
      case .end(let signal): return signal
      case nil: break
      }
    }
  }

  // MARK: - The daemon

  private func refresh() {
    let now = SystemClock.monotonic()
    if now < nextRefresh { return }
    nextRefresh = now + TopSession.interval
    do {
      let connection = try connected()
      state.note(status: try connection.status(), at: now)
      state.note(events: try connection.newEvents())
      state.trouble = nil
    } catch {
      connection = nil
      if state.trouble == nil { state.trouble = trouble() }
    }
  }

  private func connected() throws -> LiveConnection {
    if let connection { return connection }
    let new = try LiveConnection(connect)
    connection = new
    return new
  }

  private func trouble() -> String {
    let time = SystemClock.text(SystemClock.wall()).dropFirst(11)
    return "no answer since \(time): is cascaded running? trying again"
  }

  private func ask(_ question: TopState.Question, _ typed: String) {
    let store = state.selectedStore?["store"]?.string ?? ""
    do {
      state.show(
        "\(question.rawValue) \(typed.printable)", try answer(question, typed, store: store))
    } catch let error as VarlinkClientError {
      state.show("\(question.rawValue) \(typed.printable)", Failure(error).text)
    } catch {
      state.show(question.rawValue, "\(error)")
    }
  }

  private func answer(
    _ question: TopState.Question, _ typed: String, store: String
  ) throws -> String {
    switch question {
    case .why:
      let reply = try connected().ask("Why", ["node": .string(typed)], store: store)
      return Commands.describeWhy(reply["why"] ?? .null)
    case .plan where Int64(typed) != nil:
      let reply = try connected().ask("HeldPlan", ["plan": .integer(Int64(typed)!)], store: store)
      return Commands.describeHeldPlan(reply["plan"] ?? .null)
    case .plan:
      let reply = try connected().ask("Plan", ["nodes": [.string(typed)]], store: store)
      return Commands.describePlan(reply["plan"] ?? .null)
    }
  }

  // MARK: - The terminal

  /// While the terminal has not taken the last lines, nothing is drawn: a slow line skips states.
  private func draw() {
    if !terminal.isIdle { return }
    let (rows, columns) = terminal.size
    let lines = TopView(state: state, rows: rows, columns: columns).lines
    terminal.send(
      screen.update(to: lines.map { $0.rendered(columns, hasColors: hasColors) }))
  }

  /// Returns whether the user wants to leave.
  private func press(_ keys: [TopKey]) -> Bool {
    for key in keys {
      switch state.press(key) {
      case .none: break
      case .quit: return true
      case .suspend:
        terminal.suspend()
        screen.reset()
      case .ask(let question, let typed): ask(question, typed)
      }
    }
    return false
  }
}
