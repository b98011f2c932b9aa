import CascadeModel
import CascadeVarlink
import Testing
import VarlinkServer

@Suite("An interface")
struct InterfaceTests {
  @Test("refuses a handler for a method that is not described")
  func handlers() {
    #expect(throws: DescriptionError.self) {
      try Interface("interface a.b", methods: ["M": { _ in [:] }])
    }
  }
}
