import Spool
import CascadeSystem
import Testing

/// How many files wait, for `status`.
@Suite struct CountTests {
  private func make(_ range: Range<Int>, _ store: TestSpool) throws {
    for number in range { _ = try store.new.file("\(number).json", .createNew) }
  }

  @Test("Few are counted at once, without those that are hidden")
  func few() throws {
    let store = try TestSpool()
    _ = try store.new.file(".hidden", .createNew)
    for number in 0..<100 {
      try make(number..<number + 1, store)
      #expect(try store.spool.counts().waiting == number + 1)
    }
  }

  @Test("To ask again and again for very many takes little longer than to look once")
  func many() throws {
    let store = try TestSpool()
    try make(0..<20_000, store)
    let start = ContinuousClock.now
    #expect(try store.new.names().count == 20_000)
    let looked = ContinuousClock.now
    for _ in 0..<300 { #expect(try store.spool.counts().waiting == 20_000) }
    let once = looked - start
    let often = ContinuousClock.now - looked
    #expect(often < once * 30)
  }

  @Test("What becomes of very many is told a little later")
  func changed() throws {
    let store = try TestSpool()
    try make(0..<5_000, store)
    #expect(try store.spool.counts().waiting == 5_000)
    try store.new.remove("7.json")
    let limit = ContinuousClock.now + .seconds(30)
    while try store.spool.counts().waiting != 4_999 && .now < limit {}
    #expect(try store.spool.counts().waiting == 4_999)
  }
}
