import CascadeSystem
import Testing

@Suite("Background work")
struct BackgroundWorkTests {
  @Test("leaves work to a thread of its own, which is waited for when nobody wants it any more")
  func backgroundWork() {
    let isDone = Flag()
    let isAsked = Flag()
    do {
      let work = BackgroundWork {
        while !isAsked.isSet { SystemClock.sleep(for: .milliseconds(1)) }
        isDone.set()
      }
      #expect(!isDone.isSet)
      isAsked.set()
      _ = consume work
    }
    #expect(isDone.isSet)
  }
}
