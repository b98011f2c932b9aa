import CascadeKit

/// The structures of `Made`, whose conformance is written by hand.
enum Hand {
  struct Plain {
    let id: ID<Plain>
    var name: String
  }

  struct Numbered {
    typealias Key = Int
    let id: ID<Numbered>
    var size: Double
    var isOn: Bool
  }

  struct Named {
    typealias Key = String
    let id: ID<Named>
    var note: String?
  }

  struct Renamed {
    let id: ID<Renamed>
    var title: String
    var odd: Int = 3
  }

  struct Unstoredly {
    let id: ID<Unstoredly>
    var cache: [Int] = [1, 2]
    var later: String?
    var kept: Int
  }

  struct Computed {
    let id: ID<Computed>
    var first: String
    var both: String { first + first }
    var sum: Int {
      get { 1 }
      set { first = "\(newValue)" }
    }
    static let zero = 0
    static var one: Int { 1 }
  }

  struct Observed {
    let id: ID<Observed>
    var value: Int = 1 { didSet { changes += 1 } }
    var changes = 0
  }

  struct Several {
    let id: ID<Several>, made: Int
    var a: Int, b: String
  }

  struct Commented {
    /// var notOne: Int
    let id: ID<Commented>  // var norThis: Int
    /* var neither: Int /* nested */ */
    var it: String = "var string: Int { }"
  }

  struct Referring {
    let id: ID<Referring>
    var plain: ID<Plain>?
    var named: ID<Named>
    static let plain = Relationship<Plain?>(
      \.plain, "plain", rules: .deleteSourceIfDestinationDeleted)
    static let named = Relationship<Named>(\.named, "named", inverse: "js")
  }

  struct Joined {
    let id: ID<Joined>
    static let plains = Relationship<[Plain]>(
      "plains", join: Join("k_a", source: "k", destination: "a"),
      rules: .deleteDestinationIfAllSourcesDeleted)
  }

  struct Filed {
    let id: ID<Filed>
    var coverPath: String?
    static let cover = FileReference(\Hand.Filed.coverPath, "cover", root: "media")
  }

  struct Fetching {
    let id: ID<Fetching>
    var year: Int
    static let near = Fetched<Plain>(
      "near", where: "name > $source.year", limit: 3)
  }

  struct Object {
    let id: ID<Object>
    var coverPath: String
    var sizes: [Int]
  }

  struct Typed {
    let id: ID<Typed>
    var images: [ID<Object>]
    static let images = Relationship<[Object]>(\.images, "images", max: 12)
  }

  struct Enumerated {
    enum Color: String, ColumnValue { case red, green }
    let id: ID<Enumerated>
    var color: Color
    var other: Color?
  }

  struct Working {
    let id: ID<Working>
    var text: String
    func twice() -> Int {
      let result = 2
      return result
    }
    mutating func willWrite(_ kind: WriteKind) throws {
      var copy = text
      copy += ""
      text = copy
    }
    init(id: ID<Working>, text: String) { (self.id, self.text) = (id, text) }
  }

  struct Keywords {
    let id: ID<Keywords>
    var `default`: Int
    var `in`: String?
  }

  struct Valued {
    let id: ID<Valued>
    var names: [String]
    var small: Int64
    var large: Int?
    var ratio: Double
  }

  struct Manual {
    let id: ID<Manual>
    static let next = Relationship<[Manual]>("next", inverse: "before")
    static let before = next.inverse
  }

  struct Odd {
    let id: ID<Odd>
    var first: ID<Plain>?
    var second: ID<Plain>?
    var third: ID<Plain>?
  }
}

extension Hand.Odd: Model {
  static let collection = Collection("u", table: "u")
  static let columns = Columns<Hand.Odd>([
    .init("id", \Hand.Odd.id), .init("first", \Hand.Odd.first), .init("second", \Hand.Odd.second),
    .init("third", \Hand.Odd.third),
  ])
  /// In an extension that conforms to `Model` by hand, they may be anywhere.
  static let made = Relationship<Hand.Plain?>(\.second, "e")
  static var relationships: [any Declared] {
    [
      Relationship<Hand.Plain?>(\.first, "a"), Relationship<Hand.Plain?>(\.second, "b"),
      Relationship<Hand.Plain?>(\.third, "c"), Relationship<Hand.Plain?>(\.third, "f"),
      Relationship<Hand.Plain?>(\.first, "d"), made,
    ]
  }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    first = try row.value(1)
    second = try row.value(2)
    third = try row.value(3)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.first)
    row.set(2, self.second)
    row.set(3, self.third)
  }
}

extension Hand.Plain: Model {
  static let collection = Collection("a", table: "a")
  static let columns = Columns<Hand.Plain>([
    .init("id", \Hand.Plain.id),
    .init("name", \Hand.Plain.name),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    name = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.name)
  }
}

extension Hand.Numbered: Model {
  static let collection = Collection("b", table: "b")
  static let columns = Columns<Hand.Numbered>([
    .init("id", \Hand.Numbered.id),
    .init("size", \Hand.Numbered.size),
    .init("isOn", \Hand.Numbered.isOn),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    size = try row.value(1)
    isOn = try row.value(2)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.size)
    row.set(2, self.isOn)
  }
}

extension Hand.Named: Model {
  static let collection = Collection("c", table: "c", key: "name")
  static let columns = Columns<Hand.Named>([
    .init("id", \Hand.Named.id, column: "name"),
    .init("note", \Hand.Named.note),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    note = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.note)
  }
}

extension Hand.Renamed: Model {
  static let collection = Collection("d", table: "d")
  static let columns = Columns<Hand.Renamed>([
    .init("id", \Hand.Renamed.id),
    .init("title", \Hand.Renamed.title, column: "heading"),
    .init("odd", \Hand.Renamed.odd, column: "x y"),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    title = try row.value(1)
    odd = try row.value(2)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.title)
    row.set(2, self.odd)
  }
}

extension Hand.Unstoredly: Model {
  static let collection = Collection("e", table: "e")
  static let columns = Columns<Hand.Unstoredly>([
    .init("id", \Hand.Unstoredly.id),
    .init("kept", \Hand.Unstoredly.kept),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    kept = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.kept)
  }
}

extension Hand.Computed: Model {
  static let collection = Collection("f", table: "f")
  static let columns = Columns<Hand.Computed>([
    .init("id", \Hand.Computed.id),
    .init("first", \Hand.Computed.first),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    first = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.first)
  }
}

extension Hand.Observed: Model {
  static let collection = Collection("g", table: "g")
  static let columns = Columns<Hand.Observed>([
    .init("id", \Hand.Observed.id),
    .init("value", \Hand.Observed.value),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    value = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.value)
  }
}

extension Hand.Several: Model {
  static let collection = Collection("h", table: "h")
  static let columns = Columns<Hand.Several>([
    .init("id", \Hand.Several.id),
    .init("made", \Hand.Several.made),
    .init("a", \Hand.Several.a),
    .init("b", \Hand.Several.b),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    made = try row.value(1)
    a = try row.value(2)
    b = try row.value(3)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.made)
    row.set(2, self.a)
    row.set(3, self.b)
  }
}

extension Hand.Commented: Model {
  static let collection = Collection("i", table: "i")
  static let columns = Columns<Hand.Commented>([
    .init("id", \Hand.Commented.id),
    .init("it", \Hand.Commented.it),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    it = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.it)
  }
}

extension Hand.Referring: Model {
  static let collection = Collection("j", table: "j")
  static let columns = Columns<Hand.Referring>([
    .init("id", \Hand.Referring.id),
    .init("plain", \Hand.Referring.plain),
    .init("named", \Hand.Referring.named),
  ])
  static var relationships: [any Declared] { [Hand.Referring.plain, Hand.Referring.named] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    plain = try row.value(1)
    named = try row.value(2)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.plain)
    row.set(2, self.named)
  }
}

extension Hand.Joined: Model {
  static let collection = Collection("k", table: "k")
  static let columns = Columns<Hand.Joined>([
    .init("id", \Hand.Joined.id)
  ])
  static var relationships: [any Declared] { [Hand.Joined.plains] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
  }
}

extension Hand.Filed: Model {
  static let collection = Collection("l", table: "l")
  static let columns = Columns<Hand.Filed>([
    .init("id", \Hand.Filed.id),
    .init("coverPath", \Hand.Filed.coverPath),
  ])
  static var relationships: [any Declared] { [Hand.Filed.cover] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    coverPath = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.coverPath)
  }
}

extension Hand.Fetching: Model {
  static let collection = Collection("m", table: "m")
  static let columns = Columns<Hand.Fetching>([
    .init("id", \Hand.Fetching.id),
    .init("year", \Hand.Fetching.year),
  ])
  static var relationships: [any Declared] { [Hand.Fetching.near] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    year = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.year)
  }
}

extension Hand.Object: Model {
  static let collection = Collection("n")
  static let columns = Columns<Hand.Object>([
    .init("id", \Hand.Object.id),
    .init("coverPath", \Hand.Object.coverPath),
    .init("sizes", \Hand.Object.sizes),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    coverPath = try row.value(1)
    sizes = try row.value(2)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.coverPath)
    row.set(2, self.sizes)
  }
}

extension Hand.Typed: Model {
  static let collection = Collection("o", type: "photo")
  static let columns = Columns<Hand.Typed>([
    .init("id", \Hand.Typed.id),
    .init("images", \Hand.Typed.images),
  ])
  static var relationships: [any Declared] { [Hand.Typed.images] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    images = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.images)
  }
}

extension Hand.Enumerated: Model {
  static let collection = Collection("p", table: "p")
  static let columns = Columns<Hand.Enumerated>([
    .init("id", \Hand.Enumerated.id),
    .init("color", \Hand.Enumerated.color),
    .init("other", \Hand.Enumerated.other),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    color = try row.value(1)
    other = try row.value(2)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.color)
    row.set(2, self.other)
  }
}

extension Hand.Working: Model {
  static let collection = Collection("q", table: "q")
  static let columns = Columns<Hand.Working>([
    .init("id", \Hand.Working.id),
    .init("text", \Hand.Working.text),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    text = try row.value(1)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.text)
  }
}

extension Hand.Keywords: Model {
  static let collection = Collection("r", table: "r")
  static let columns = Columns<Hand.Keywords>([
    .init("id", \Hand.Keywords.id),
    .init("default", \Hand.Keywords.default),
    .init("in", \Hand.Keywords.in),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    self.default = try row.value(1)
    self.in = try row.value(2)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.default)
    row.set(2, self.in)
  }
}

extension Hand.Valued: Model {
  static let collection = Collection("s", table: "s")
  static let columns = Columns<Hand.Valued>([
    .init("id", \Hand.Valued.id),
    .init("names", \Hand.Valued.names),
    .init("small", \Hand.Valued.small),
    .init("large", \Hand.Valued.large),
    .init("ratio", \Hand.Valued.ratio),
  ])
  static var relationships: [any Declared] { [] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    names = try row.value(1)
    small = try row.value(2)
    large = try row.value(3)
    ratio = try row.value(4)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
    row.set(1, self.names)
    row.set(2, self.small)
    row.set(3, self.large)
    row.set(4, self.ratio)
  }
}

extension Hand.Manual: Model {
  static let collection = Collection("t")
  static let columns = Columns<Hand.Manual>([
    .init("id", \Hand.Manual.id)
  ])
  static var relationships: [any Declared] { [Hand.Manual.next] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
  }
  func write(to row: inout RowValues) {
    row.set(0, self.id)
  }
}
