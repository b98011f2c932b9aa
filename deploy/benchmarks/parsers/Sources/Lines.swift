import FoundationEssentials

/// Change lines of about 150 bytes, as a producer of objects and edges writes them.
struct Lines {
  private(set) var bytes: [UInt8] = []
  private(set) var starts: [Range<Int>] = []

  init(count: Int) {
    bytes.reserveCapacity(count * 160)
    var state: UInt64 = 42
    for index in 0..<count {
      let start = bytes.count
      bytes.append(contentsOf: Lines.line(index, &state).utf8)
      starts.append(start..<bytes.count)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  /// Three of four are links, two of them with rules; the fourth is a put.
  private static func line(_ index: Int, _ state: inout UInt64) -> String {
    let from = key(&state)
    let to = key(&state)
    if index % 4 == 3 {
      return #"{"put":["notes","\#(from)"],"type":"note","value":{"title":"Nº \#(index)","#
        + #""tags":["a","b"],"about":"\#(to)","stars":4.5}}"#
    }
    let rules = index % 2 == 0 ? #","rules":["deleteSourceIfDestinationDeleted"]"# : ""
    return
      #"{"link":{"name":"album","from":["songs","\#(from)"],"to":["albums","\#(to)"]\#(rules)}}"#
  }

  /// Of 36 bytes, like a UUID.
  private static func key(_ state: inout UInt64) -> String {
    var key: [UInt8] = []
    for place in 0..<36 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let isDash = place == 8 || place == 13 || place == 18 || place == 23
      key.append(isDash ? UInt8(ascii: "-") : Array("0123456789abcdef".utf8)[Int(state >> 60)])
    }
    return String(decoding: key, as: UTF8.self)
  }

  func countWithModel() throws -> Int {
    var parser = ChangeLineParser()
    var count = 0
    for range in starts {
      _ = try parser.change(bytes.span.extracting(range), number: count + 1)
      count += 1
    }
    return count
  }

  /// The lines as one transaction.
  func document() -> [UInt8] {
    let separated = bytes.dropLast().map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: ",") : $0 }
    return Array(#"{"changes":["#.utf8) + separated + Array("]}".utf8)
  }

  static func count(document: [UInt8]) throws -> Int {
    var document = try ChangeDocument(document)
    var count = 0
    while document.next() != nil { count += 1 }
    return count
  }

  func countWithFoundation() throws -> Int {
    let decoder = JSONDecoder()
    var count = 0
    for range in starts {
      _ = try decoder.decode(Line.self, from: Data(bytes[range]))
      count += 1
    }
    return count
  }
}

/// As little of a line as lets JSONDecoder do comparable work.
private struct Line: Decodable {
  struct Edge: Decodable {
    let name: String
    let from: [String]
    let to: [String]
    let rules: [String]?
  }

  struct Value: Decodable {
    let title: String
    let tags: [String]
    let about: String
    let stars: Double
  }

  let link: Edge?
  let put: [String]?
  let type: String?
  let value: Value?
}
