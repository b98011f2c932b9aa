import CascadeModel
import Testing

@Suite struct JSONTests {
  @Test func `An object keeps the order of its members`() throws {
    let json = try JSON.parse(#"{"b": 1, "a": [true, null, "x", 1.5, -7]}"#)
    #expect(json == ["b": 1, "a": [true, nil, "x", 1.5, -7]])
    #expect(json.text == #"{"b":1,"a":[true,null,"x",1.5,-7]}"#)
    #expect(json["a"]?.array?.count == 5)
    #expect(json["c"] == nil)
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(0x1p63)),
      ("1.0", .number(1)), ("1e2", .number(100)), ("1E+2", .number(100)),
      ("-1.5e-3", .number(-0.0015)),
      ("1e-999", .number(0)), ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
      (#""""#, ""), (#""\u0041\n\/\"\\""#, "A\n/\"\\"), (#""\ud83d\ude00""#, "😀"),
      (#""\u0000""#, "\0"), ("\"\u{7F}\u{2028}é\"", "\u{7F}\u{2028}é"), (" [ ] ", []),
      ("\t{\r\n}", [:]),
      ("[[],{}]", [[], [:]]), ("true", true),
    ] as [(String, JSON)])
  func `Valid JSON means what RFC 8259 says`(text: String, value: JSON) throws {
    #expect(try JSON.parse(text) == value)
  }

  @Test(arguments: [
    ("", 1, 1, "expected a value, found the end"),
    (" \n ", 2, 2, "expected a value, found the end"),
    ("\u{FEFF}{}", 1, 1, "a byte order mark; write UTF-8 without it"),
    ("{} x", 1, 4, "expected nothing more, found 'x'"),
    ("[1,]", 1, 4, "a trailing comma"),
    ("{\"a\":1,}", 1, 8, "a trailing comma"),
    ("[1 2]", 1, 4, "expected ',' or ']', found '2'"),
    ("[1", 1, 3, "expected ',' or ']', found the end"),
    ("{a:1}", 1, 2, "expected a name in double quotes, found 'a'"),
    ("{\"a\" 1}", 1, 6, "expected ':' after a name, found '1'"),
    ("[1}", 1, 3, "expected ',' or ']', found '}'"),
    ("nul", 1, 1, "expected a value, found nul; strings need double quotes"),
    ("True", 1, 1, "expected a value, found True; strings need double quotes"),
    ("NaN", 1, 1, "expected a value, found 'N'"),
    ("'a'", 1, 1, "expected a value, found '''"),
    ("[é]", 1, 2, "expected a value, found a letter outside of quotes"),
    ("01", 1, 1, "a number with a leading zero"),
    ("-01", 1, 2, "a number with a leading zero"),
    ("+1", 1, 1, "expected a value, found '+'"),
    (".5", 1, 1, "expected a value, found '.'"),
    ("-", 1, 2, "expected a digit, found the end"),
    ("1.", 1, 3, "expected a digit, found the end"),
    ("1e", 1, 3, "expected a digit, found the end"),
    ("[1e+]", 1, 5, "expected a digit, found ']'"),
    ("[1e999]", 1, 2, "a number too large for a double"),
    ("0x10", 1, 2, "expected nothing more, found 'x'"),
    ("// no\n1", 1, 1, "expected a value, found '/'"),
    ("\"é\nb\"", 1, 3, "a control character (10) in a string; write it as an escape"),
    ("\"ab", 1, 1, "a string without its closing quote"),
    ("\"ab\\", 1, 4, "a string without its closing quote"),
    (#""\x""#, 1, 2, #"an unknown escape; known: \" \\ \/ \b \f \n \r \t \uXXXX"#),
    (#""\u12G4""#, 1, 6, "expected 4 hexadecimal digits in an escape"),
    (#""\u12"#, 1, 6, "expected 4 hexadecimal digits in an escape"),
    (#""a\ud800""#, 1, 3, "an unpaired surrogate stands for no character"),
    (#""\ud800\u0041""#, 1, 2, "an unpaired surrogate stands for no character"),
    (#""\udc00""#, 1, 2, "an unpaired surrogate stands for no character"),
    ("{\"a\":1,\n \"\\u0061\":2}", 2, 2, "duplicate key \"a\""),
    ("[{\"\":1,\"\":2}]", 1, 8, "duplicate key \"\""),
    ("[\"é\", \u{1}]", 1, 7, "expected a value, found a control character (1)"),
  ])
  func `Malformed JSON is refused with its place`(
    text: String, line: Int, column: Int, message: String
  ) {
    let error = #expect(throws: JSONError.self) { try JSON.parse(text) }
    #expect(error?.description == "line \(line), column \(column): \(message)")
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
      [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xE2, 0x82], [0xF0, 0x80, 0x80, 0x80],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
      [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func `Invalid UTF-8 is refused where it stands`(bad: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    for dialect in [JSON.Dialect.json, .json5] {
      for plain in ["ab", "abcdefghijkl"] {
        let error = #expect(throws: JSONError.self) {
          try JSON.parse([quote] + plain.utf8 + bad + [quote], as: dialect)
        }
        #expect(error?.message == "invalid UTF-8")
        #expect(error?.column == plain.utf8.count + 2)
      }
    }
    #expect(throws: JSONError.self) { try JSON.parse(bad) }
    #expect(throws: JSONError.self) { try JSON.parse(bad, as: .json5) }
  }

  @Test func `Every Unicode scalar passes as it is`() throws {
    for value in stride(from: UInt32(0x20), through: 0x10FFFF, by: 61) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let json = JSON.string("\(Character(scalar))x")
      #expect(try JSON.parse(json.text) == json)
    }
  }

  @Test(arguments: [JSON.Dialect.json, .json5])
  func `64 levels are read, 65 are refused`(dialect: JSON.Dialect) throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(try JSON.parse(nested(64), as: dialect).array != nil)
    let error = #expect(throws: JSONError.self) { try JSON.parse(nested(65), as: dialect) }
    #expect(error?.description == "line 1, column 65: nested deeper than 64 levels")
    #expect(throws: JSONError.self) {
      try JSON.parse(String(repeating: "{\"a\":", count: 1_000_000), as: dialect)
    }
  }

  /// With a step for every pair of names this would take hours.
  @Test(arguments: [0, 1, 22, 23, 24, 25, 26, 63, 64, 65, 300, 300_000])
  func `A duplicate is found among any number of names`(count: Int) throws {
    let members = (0..<count).map { #""name\#($0)":0"# }
    func object(_ members: [String]) -> String { "{" + members.joined(separator: ",") + "}" }
    #expect(try JSON.parse(object(members)).object?.count == count)
    let last = #""\u006eame\#(max(0, count - 1))":1"#
    #expect(throws: JSONError.self) {
      try JSON.parse(object([#""name\#(max(0, count - 1))":0"#] + members + [last]))
    }
  }

  @Test func `Names that look alike but differ in bytes are two`() throws {
    #expect(try JSON.parse("{\"\u{E9}\":1,\"e\u{301}\":2}").object?.count == 2)
  }

  @Test(arguments: 1...200)
  func `A tree comes back from its text`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let json = random.json(depth: 4)
    #expect(try JSON.parse(json.text) == json)
    #expect(try JSON.parse(json.text, as: .json5) == json)
    #expect(try JSON.parse(json.text).text == json.text)
  }

  @Test func `Text written holds nothing that a terminal would obey`() {
    let json: JSON = ["\u{1B}[2J": "\u{7F}\u{9B}\u{0}", "n": .number(.nan)]
    #expect(json.text == #"{"\u001b[2J":"\u007f\u009b\u0000","n":null}"#)
    #expect(JSON.raw(JSONText(valid: "{ }")).text == "{ }")
  }
}
