internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import Glibc
internal import HTTPServer

/// `web`: serves a page on this machine, until it is interrupted.
enum WebCommand {
  static func command(_ arguments: inout Arguments) throws -> Commands.Live {
    let port = try port(&arguments)
    let isReadOnly = arguments.flag("--read-only")
    try arguments.noOperands()
    let output = Output(json: arguments.json, quiet: arguments.quiet)
    return { connect in
      // It would be of no use without a daemon.
      _ = try connect()
      let access = try WebAccess()
      let page = WebPage(access, isReadOnly: isReadOnly, connect)
      try serve(page, on: start(page, port), access, output)
    }
  }

  private static func port(_ arguments: inout Arguments) throws -> UInt16 {
    guard let number = try arguments.numberOption("--port") else { return 0 }
    guard let port = UInt16(exactly: number) else {
      throw UsageError("\(number) is not a port: use 1 to 65535, or 0 for a free one")
    }
    return port
  }

  private static func start(_ page: WebPage, _ port: UInt16) throws -> UInt16 {
    do {
      return try HTTPServer.start(port: port) { page.answer($0) }
    } catch {
      throw Failure("cannot serve on 127.0.0.1:\(port): \(error)", EX_UNAVAILABLE)
    }
  }

  /// Prints the address. On a terminal, each line that is typed prints another one.
  private static func serve(
    _ page: WebPage, on port: UInt16, _ access: WebAccess, _ output: Output
  ) throws -> Never {
    let asks = StandardStream.input.isTerminal && StandardStream.error.isTerminal && !output.json
    while true {
      let address = "http://127.0.0.1:\(port)/?token=\(try access.newToken())"
      try output.show(["address": .string(address)]) { _ in address }
      if !asks { while true { pause() } }
      output.problem("It can be opened once. Enter prints another address, Ctrl-C ends the page.")
      let input = try StandardStream.input.duplicate()
      var typed: [UInt8] = []
      while try input.read(into: &typed, upTo: 256) == nil {}
      if typed.isEmpty { while true { pause() } }
    }
  }
}
