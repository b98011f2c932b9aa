internal import CascadeCSystem
internal import Glibc

/// A terminal that a program uses as a whole: keys arrive at once and are not echoed, and signals
/// are events. It is as it was before when its owner is destroyed.
///
/// Output is queued, and written as fast as the terminal takes it, so that a slow or stopped
/// terminal never keeps the program from its input.
package final class Terminal {
  package enum Event: Hashable, Sendable {
    case keys([UInt8])
    /// The terminal has another size, or shows something else: everything has to be drawn.
    case redraw
    /// A signal that ends a program, or the end of the terminal.
    case end(signal: CInt)
  }

  private let file: FileDescriptor
  private let signals: FileDescriptor
  private let original: termios
  private var pending: ArraySlice<UInt8> = []

  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private static let all = ending + [SIGWINCH, SIGTSTP, SIGCONT]

  /// The alternate screen, without a cursor, where long lines are cut off.
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  private static let leave = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  package init() throws(SystemError) {
    file = try Terminal.open()
    var attributes = termios()
    _ = try checked("tcgetattr") { [raw = file.raw] in unsafe tcgetattr(raw, &attributes) }
    original = attributes
    signals = FileDescriptor(owning: try Terminal.watchSignals())
    enter()
  }

  /// An open file of its own: that it does not block is not seen by other programs. After a change
  /// of the user, only the controlling terminal may be opened.
  private static func open() throws(SystemError) -> FileDescriptor {
    do {
      return try FileDescriptor.open("/proc/self/fd/1", .readWrite(create: false))
    } catch {
      return try FileDescriptor.open("/dev/tty", .readWrite(create: false))
    }
  }

  deinit {
    flush(milliseconds: 200)
    _ = file.writeNow(Array(Terminal.leave.utf8))
    set(original)
  }

  /// The rows and columns.
  package var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard unsafe ioctl(file.raw, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Whether all output has been written.
  package var isIdle: Bool { pending.isEmpty }

  package func send(_ text: String) { pending += Array(text.utf8) }

  /// Waits for an event, at most for a time. Meanwhile the output is written.
  package func next(milliseconds: Int) throws(SystemError) -> Event? {
    let end = SystemClock.monotonic() + Int64(milliseconds)
    while true {
      var items = [poll(file, pending.isEmpty ? POLLIN : POLLIN | POLLOUT), poll(signals, POLLIN)]
      let left = CInt(clamping: max(0, end - SystemClock.monotonic()))
      let count = try checked("poll") { unsafe Glibc.poll(&items, 2, left) }
      if count == 0 { return nil }
      if items[1].revents != 0, let event = try takeSignal() { return event }
      if items[0].revents & Int16(POLLHUP | POLLERR) != 0 { return .end(signal: SIGHUP) }
      if items[0].revents & Int16(POLLIN) != 0 { return try takeKeys() }
      if items[0].revents & Int16(POLLOUT) != 0 { try write() }
    }
  }

  /// Ends the program by a signal, as if it had not been caught.
  package static func endProgram(by signal: CInt) -> Never {
    Glibc.signal(signal, SIG_DFL)
    unblock(signal)
    raise(signal)
    exit(128 + signal)
  }

  // MARK: - Modes

  private func enter() {
    var attributes = original
    unsafe cfmakeraw(&attributes)
    set(attributes)
    pending = ArraySlice(Terminal.enter.utf8)
  }

  private func set(_ attributes: termios) {
    var attributes = attributes
    _ = unsafe tcsetattr(file.raw, TCSANOW, &attributes)
  }

  /// Stops the program until a shell continues it.
  package func suspend() {
    pending += Array(Terminal.leave.utf8)
    flush(milliseconds: 1_000)
    set(original)
    raise(SIGSTOP)
    enter()
  }

  private func flush(milliseconds: Int) {
    let end = SystemClock.monotonic() + Int64(milliseconds)
    while !pending.isEmpty && SystemClock.monotonic() < end {
      let isReady = try? file.waitBlocking(for: .writable, milliseconds: milliseconds)
      if isReady != true || (try? write()) == nil { return }
    }
  }

  // MARK: - Input and output

  private func write() throws(SystemError) {
    let bytes = Array(pending.prefix(1 << 12))
    let count = try checkedUnlessBlocking("write") {
      unsafe Glibc.write(file.raw, bytes, bytes.count)
    }
    pending = pending.dropFirst(count ?? 0)
  }

  private func takeKeys() throws(SystemError) -> Event? {
    var bytes: [UInt8] = []
    let count = try file.read(into: &bytes, upTo: 256)
    return count == 0 ? .end(signal: SIGHUP) : .keys(bytes)
  }

  private func takeSignal() throws(SystemError) -> Event? {
    var info = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    let count = try checkedUnlessBlocking("read") { unsafe read(signals.raw, &info, size) }
    guard count == size else { return nil }
    switch CInt(info.ssi_signo) {
    case SIGWINCH: return .redraw
    case SIGTSTP: suspend()
    case SIGCONT: enter()
    case let signal: return .end(signal: signal)
    }
    return .redraw
  }

  private func poll(_ file: borrowing FileDescriptor, _ events: CInt) -> pollfd {
    pollfd(fd: file.raw, events: Int16(events), revents: 0)
  }

  // MARK: - Signals

  private static func watchSignals() throws(SystemError) -> CInt {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in all { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    return try checked("signalfd") { unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC)) }
  }

  private static func unblock(_ signal: CInt) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}
