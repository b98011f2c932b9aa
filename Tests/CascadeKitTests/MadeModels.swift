import CascadeKit

/// Structures of many forms, whose conformance the macro writes.
enum Made {
  @Model("a", table: "a")
  struct Plain {
    let id: ID<Plain>
    var name: String
  }

  @Model("b", table: "b")
  struct Numbered {
    typealias Key = Int
    let id: ID<Numbered>
    var size: Double
    var isOn: Bool
  }

  @Model("c", table: "c", key: "name")
  struct Named {
    typealias Key = String
    @Column("name") let id: ID<Named>
    var note: String?
  }

  @Model("d", table: "d")
  struct Renamed {
    let id: ID<Renamed>
    @Column("heading") var title: String
    @Column("x y") var odd: Int = 3
  }

  @Model("e", table: "e")
  struct Unstoredly {
    let id: ID<Unstoredly>
    @Unstored var cache: [Int] = [1, 2]
    @Unstored var later: String?
    var kept: Int
  }

  @Model("f", table: "f")
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

  @Model("g", table: "g")
  struct Observed {
    let id: ID<Observed>
    var value: Int = 1 { didSet { changes += 1 } }
    @Unstored var changes = 0
  }

  @Model("h", table: "h")
  struct Several {
    let id: ID<Several>, made: Int
    var a: Int, b: String
  }

  @Model("i", table: "i")
  struct Commented {
    /// var notOne: Int
    let id: ID<Commented>  // var norThis: Int
    /* var neither: Int /* nested */ */
    var it: String = "var string: Int { }"
  }

  @Model("j", table: "j")
  struct Referring {
    let id: ID<Referring>
    var plain: ID<Plain>?
    var named: ID<Named>
    static let plain = Relationship<Plain?>(
      \.plain, "plain", rules: .deleteSourceIfDestinationDeleted)
    static let named = Relationship<Named>(\.named, "named", inverse: "js")
  }

  @Model("k", table: "k")
  struct Joined {
    let id: ID<Joined>
    static let plains = Relationship<[Plain]>(
      "plains", join: Join("k_a", source: "k", destination: "a"),
      rules: .deleteDestinationIfAllSourcesDeleted)
  }

  @Model("l", table: "l")
  struct Filed {
    let id: ID<Filed>
    var coverPath: String?
    static let cover = FileReference(\Made.Filed.coverPath, "cover", root: "media")
  }

  @Model("m", table: "m")
  struct Fetching {
    let id: ID<Fetching>
    var year: Int
    static let near = Fetched<Plain>(
      "near", where: "name > $source.year", limit: 3)
  }

  @Model("n")
  struct Object {
    let id: ID<Object>
    var coverPath: String
    var sizes: [Int]
  }

  @Model("o", type: "photo")
  struct Typed {
    let id: ID<Typed>
    var images: [ID<Object>]
    static let images = Relationship<[Object]>(\.images, "images", max: 12)
  }

  @Model("p", table: "p")
  struct Enumerated {
    enum Color: String, ColumnValue { case red, green }
    let id: ID<Enumerated>
    var color: Color
    var other: Color?
  }

  @Model("q", table: "q")
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

  @Model("r", table: "r")
  struct Keywords {
    let id: ID<Keywords>
    var `default`: Int
    var `in`: String?
  }

  @Model("s", table: "s")
  struct Valued {
    let id: ID<Valued>
    var names: [String]
    var small: Int64
    var large: Int?
    var ratio: Double
  }

  @Model("t")
  struct Manual {
    let id: ID<Manual>
    static let next = Relationship<[Manual]>("next", inverse: "before")
    static let before = next.inverse
  }

  // A parenthesis in a comment (is none of the attribute's.
  /// (Nor is this one.
  @Model("u", table: "u")
  struct Odd {
    typealias ToPlain = RelationshipFrom<Odd, Plain?>
    let id: ID<Odd>
    var first: ID<Plain>?
    var second: ID<Plain>?
    var third: ID<Plain>?
    static let a = RelationshipFrom<Odd, Plain?>(\.first, "a")
    static let b = Self.Relationship<Plain?>(\.second, "b")
    static var c: Relationship<Plain?> { Relationship(\.third, "c") }
    static let d = ToPlain(\.first, "d")
    static let e = make()
    private static let f: CascadeKit.RelationshipFrom<Odd, Plain?> = .init(\.third, "f")
    static let inverse = make().inverse
    static let unused = notRead()
    private static func make() -> Relationship<Plain?> { Relationship(\.second, "e") }
    private static func notRead() -> Int { fatalError("it is no relationship") }
  }
}
