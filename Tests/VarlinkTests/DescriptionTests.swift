import CascadeVarlink
import Testing

@Suite("The description parser")
struct DescriptionTests {
  @Test("reads types, methods and errors between comments")
  func whole() throws {
    let description = try Description.parse(
      "#c\r\ninterface a-b.c2.D # d\r\ntype T (a_b: ?[]T, type: [string]int)\n"
        + "type E (one, two_2)\nmethod M(x: (a: E)) -> ()\nerror F ()\nerror G (method: ?E)#")
    #expect(description.name == "a-b.c2.D")
    #expect(
      description.types == [
        "T": .structure([
          .init(name: "a_b", shape: .optional(.list(.named("T")))),
          .init(name: "type", shape: .map(.int)),
        ]), "E": .choice(["one", "two_2"]),
      ])
    #expect(description.methods.keys.sorted() == ["M"])
    #expect(description.errors.keys.sorted() == ["F", "G"])
  }

  @Test(
    "refuses what not all implementations understand",
    arguments: [
      "", "interface", "interface a", "interface a.", "interface 1.b", "interface a.-b",
      "interface a.b type T ()", "interface a.b type T (x: [][]int)",
      "interface a.b type T (x: []?int)", "interface a.b type T (x: [string][]int)",
      "interface a.b type T (x: ??int)", "interface a.b type T (x: U)",
      "interface a.b type t (x: int)", "interface a.b type T (x: int, x: int)",
      "interface a.b type T (x: (a, a))", "interface a.b type T (x: int,)",
      "interface a.b type T (_x: int)", "interface a.b type T (x__y: int)",
      "interface a.b type T (x_: int)", "interface a.b type T (x-y)",
      "interface a.b type T (x: int) method T() -> ()", "interface a.b error E",
      "interface a.b method M()", "interface a.b method M(a) -> ()", "interface a.b what T ()",
      "interface a.b type T (x: int", "interface a.b type T (x int)", "interface a.b !",
      "interface a.b type T (x: [int]int)",
    ])
  func refused(text: String) {
    #expect(throws: DescriptionError.self) { try Description.parse(text) }
  }

  @Test("says where")
  func line() {
    #expect {
      try Description.parse("interface a.b\n# c\n\ntype T (x: int,\n  y: u)")
    } throws: { error in
      (error as? DescriptionError)?.line == 5
    }
  }
}
