import CascadeSystem
import Glibc
import Synchronization
import SystemdService
import TestSupport
import Testing

@Suite("The event loop")
struct LoopTests {
  @Test("sleeps at least as long as it was told to")
  func sleep() async throws {
    try await onLoop {
      let start = SystemClock.monotonicMicroseconds()
      try await EventLoop.sleep(for: .milliseconds(3))
      #expect(SystemClock.monotonicMicroseconds() - start >= 3000)
    }
  }

  @Test("keeps tasks on its thread")
  func thread() async throws {
    try await onLoop {
      EventLoopActor.preconditionIsolated()
      try await EventLoop.idle()
      EventLoopActor.preconditionIsolated()
    }
  }

  @Test("ends every wait when its task is cancelled")
  func cancellation() async throws {
    try await onLoop {
      try await expectCancelled { try await EventLoop.sleep(for: .seconds(3600)) }
      try await expectCancelled { try await Bell().wait() }
      for kind in Readiness.Kind.allCases where kind != .writable {
        try await expectCancelled {
          let pair = try UnixSocket.pair()
          try await EventLoop.wait(for: pair.first, kind)
        }
      }
    }
  }

  @Test("tells readable, half closed and hung up apart")
  func readiness() async throws {
    try await onLoop {
      let ends = try Ends(UnixSocket.pair())
      let mine = try ends.ours()
      let watch = try Readiness(mine)
      try await watch.wait(.writable)
      try ends.withOther { _ = try $0.send([1], from: 0) }
      try await watch.wait(.readable)
      try ends.withOther { try $0.shutdownWriting() }
      try await watch.wait(.readable)
      #expect(!watch.isHungUp)
      ends.closeOther()
      while !watch.isHungUp { try await watch.wait(.hungUp) }
      // Everything is ready now: the next call says what happened.
      try await watch.wait(.readable)
      try await watch.wait(.writable)
      watch.close()
    }
  }

  @Test("notices that the readers of a pipe are gone")
  func pipe() async throws {
    try await onLoop {
      let channel = try FileDescriptor.withPipe { reader, writer in
        _ = reader
        return try Channel(writer)
      }
      try await channel.hungUp()
    }
  }

  @Test("lets tasks with work to do go before idle ones")
  func idle() async throws {
    try await onLoop {
      let bell = Bell()
      let order = Order()
      let loop = EventLoop.shared
      let idle = Task(executorPreference: loop) {
        try await order.add("idle", after: EventLoop.idle)
      }
      let busy = Task(executorPreference: loop) {
        try await order.add("busy") {
          for _ in 0..<5 {
            Task(executorPreference: loop) { bell.ring() }
            try await bell.wait()
          }
        }
      }
      try await idle.value
      try await busy.value
      #expect(order.names == ["busy", "idle"])
    }
  }

  @Test("delivers signals, also those that came between two waits")
  func signals() async throws {
    try await onLoop {
      Signals.block([SIGUSR1, SIGUSR2])
      let signals = try Signals([SIGUSR1, SIGUSR2])
      raise(SIGUSR2)
      raise(SIGUSR1)
      let both = [try await signals.next(), try await signals.next()]
      #expect(both.sorted() == [SIGUSR1, SIGUSR2])
    }
  }

  @Test("keeps one ring for the next wait")
  func bell() async throws {
    try await onLoop {
      let bell = Bell()
      bell.ring()
      bell.ring()
      try await bell.wait()
      try await expectCancelled { try await bell.wait() }
      let worker = WorkerActor("bell")
      async let ring: Void = worker.run { bell.ring() }
      try await bell.wait()
      await ring
    }
  }
}

@Suite("A worker thread")
struct WorkerThreadTests {
  @Test("runs its actor in order, on its own thread")
  func order() async throws {
    let worker = WorkerActor("order")
    for number in 0..<100 { await worker.add(number) }
    #expect(await worker.numbers == Array(0..<100))
    await worker.run { #expect(threads(named: "order") == 1) }
  }

  @Test("does not hold up the loop while it blocks")
  func blocking() async throws {
    let worker = WorkerActor("blocked")
    let pair = try Ends(UnixSocket.pair())
    try await onLoop {
      let mine = try pair.ours().duplicate()
      async let read: Void = worker.run {
        _ = try? mine.waitBlocking(for: .readable, milliseconds: 10_000)
      }
      try await EventLoop.sleep(for: .milliseconds(1))
      try pair.withOther { _ = try $0.send([1], from: 0) }
      await read
    }
  }

  @Test("ends with its owner")
  func end() async throws {
    do {
      let worker = WorkerActor("ending")
      await worker.run { #expect(threads(named: "ending") == 1) }
    }
    #expect(try await onLoop { try await eventually { threads(named: "ending") == 0 } })
  }

  @Test("ends while there is nothing to do, and another one goes on")
  func patience() async throws {
    let worker = WorkerActor("patient", patience: .milliseconds(1))
    await worker.add(1)
    #expect(try await onLoop { try await eventually { threads(named: "patient") == 0 } })
    await worker.add(2)
    #expect(await worker.numbers == [1, 2])
    for number in 3...1_000 { await worker.add(number) }
    #expect(await worker.numbers == Array(1...1_000))
  }

  @Test("finishes what it was given before it ends")
  func finish() async throws {
    let bell = Bell()
    Task { [worker = WorkerActor("finishing")] in await worker.run { bell.ring() } }
    try await bell.wait()
  }
}

@Suite("A pool of threads")
struct ThreadPoolTests {
  @Test("serves more actors than it has threads, each in order and on one thread at a time")
  func turns() async throws {
    let pool = ThreadPool("pooled", most: 3, patience: .milliseconds(1))
    let workers = (0..<50).map { _ in WorkerActor(in: pool) }
    await withTaskGroup(of: Void.self) { group in
      for worker in workers {
        group.addTask { for number in 0..<40 { await worker.add(number) } }
      }
    }
    for worker in workers { #expect(await worker.numbers == Array(0..<40)) }
    #expect(try await onLoop { try await eventually { threads(named: "pooled") == 0 } })
  }

  @Test("has no more threads than allowed, and as many as are needed")
  func most() async throws {
    let pool = ThreadPool("few", most: 3)
    let gate = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        let worker = WorkerActor(in: pool)
        group.addTask {
          await worker.run { while !gate.isSet { SystemClock.sleep(for: .milliseconds(1)) } }
        }
      }
      #expect(try await onLoop { try await eventually { threads(named: "few") == 3 } })
      try await onLoop { try await EventLoop.sleep(for: .milliseconds(20)) }
      #expect(threads(named: "few") == 3)
      gate.set()
      try await group.waitForAll()
    }
  }
}

@Suite("A directory watch")
struct DirectoryWatchTests {
  @Test("misses nothing between two waits, and is quiet without a change")
  func changes() async throws {
    let scratch = try Scratch()
    try scratch.write("old", "")
    let path = scratch.path
    try await onLoop {
      let watch = try DirectoryWatch(path, .entries, rate: nil)
      let directory = try Directory.open(path)
      try await expectCancelled { try await watch.next() }
      for number in 0..<20 {
        _ = try directory.file("\(number)", .createNew)
        try await watch.next()
      }
      try directory.remove("old")
      try await watch.next()
      try await expectCancelled { try await watch.next() }
    }
  }

  @Test("sees that a file was written only when asked for")
  func content() async throws {
    let scratch = try Scratch()
    try scratch.write("file", "")
    let path = scratch.path
    try await onLoop {
      let entries = try DirectoryWatch(path, .entries)
      let content = try DirectoryWatch(path, .content)
      try Directory.open(path).file("file", .append).writeAll([1])
      try await content.next()
      try await expectCancelled { try await entries.next() }
    }
  }
}

// MARK: - Helpers

/// Runs the wait as a task of its own until it can only be waiting, and cancels it.
@EventLoopActor
private func expectCancelled(
  _ wait: @escaping @EventLoopActor @Sendable () async throws -> Void
) async throws {
  let task = Task(executorPreference: EventLoop.shared) { try await wait() }
  try await EventLoop.idle()
  try await EventLoop.idle()
  task.cancel()
  await #expect(throws: CancellationError.self) { try await task.value }
}

private func threads(named name: String) -> Int {
  guard let tasks = try? Directory.open("/proc/self/task") else { return 0 }
  let expected = FileName(name).bytes + [UInt8(ascii: "\n")]
  return ((try? tasks.names()) ?? []).count { (task: FileName) in
    let comm = try? tasks.directory(task).file("comm").readWhole(limit: 1000)
    return comm == expected
  }
}

@EventLoopActor
private final class Order {
  var names: [String] = []

  func add(
    _ name: String, after wait: @EventLoopActor @Sendable () async throws -> Void
  ) async throws {
    try await wait()
    names.append(name)
  }
}

private actor WorkerActor {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
  var numbers: [Int] = []

  init(_ name: String, patience: Duration = .seconds(3)) {
    thread = WorkerThread(name: name, patience: patience)
  }

  init(in pool: ThreadPool) { thread = WorkerThread(in: pool) }

  func add(_ number: Int) { numbers.append(number) }
  func run(_ body: @Sendable () -> Void) { body() }
}

/// A pair of sockets whose ends are closed one by one.
private final class Ends: Sendable {
  private let first: FileDescriptor
  private let second: Mutex<FileDescriptor?>

  init(_ pair: consuming UnixSocket.Pair) throws {
    first = try pair.first.duplicate()
    second = Mutex(try pair.second.duplicate())
  }

  func ours() throws -> FileDescriptor { try first.duplicate() }

  func withOther(_ body: (borrowing FileDescriptor) throws -> Void) throws {
    try second.withLock { try body($0!) }
  }

  func closeOther() { second.withLock { $0 = nil } }
}
