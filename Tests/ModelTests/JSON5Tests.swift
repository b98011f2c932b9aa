import CascadeModel
import Testing

@Suite struct JSON5Tests {
  @Test(
    arguments: [
      ("{a: 1, $b_2: 2, ünï: 3, 'c d': 4,}", ["a": 1, "$b_2": 2, "ünï": 3, "c d": 4]),
      ("[1, 2, ] // the end", [1, 2]), ("/* a\n * b */ {} /**/", [:]), ("// only\r\n1\n// last", 1),
      ("'say \"it\"'", "say \"it\""), (#"'it\'s'"#, "it's"),
      (#""it's a 'long' one""#, "it's a 'long' one"), ("'a\\\nb\\\r\nc\\\u{2028}d'", "abcd"),
      (#"'\x41\u0042\v\0\a\é'"#, "AB\u{B}\0aé"), ("'a\tb'", "a\tb"), ("0x1F", 31), ("-0XfF", -255),
      ("0x7fffffffffffffff", .integer(.max)), ("-0x8000000000000000", .integer(.min)),
      (".5", .number(0.5)), ("5.", .number(5)), ("+7", 7), ("-.5e1", .number(-5)),
      ("5.e1", .number(50)), ("+1.25", .number(1.25)), ("1e3", .number(1000)),
      ("\u{A0}\u{2003}\u{B}\u{C}[\u{2029}]", []),
      ("{null: null, true: 1}", ["null": nil, "true": 1]),
    ] as [(String, JSON)])
  func `JSON5 means what its specification says`(text: String, value: JSON) throws {
    #expect(try JSON.parse(text, as: .json5) == value)
  }

  @Test(arguments: [
    ("Infinity", 1, "Infinity and NaN are not allowed; write a number"),
    ("[-Infinity]", 2, "Infinity and NaN are not allowed; write a number"),
    ("NaN", 1, "Infinity and NaN are not allowed; write a number"),
    ("{a: 1, 'a': 2}", 8, "duplicate key \"a\""),
    ("[,]", 2, "expected a value, found ','"),
    ("[1,,]", 4, "expected a value, found ','"),
    ("{,}", 2, "expected a name, found ','"),
    ("{1a: 1}", 2, "expected a name, found '1'"),
    ("{a-b: 1}", 3, "expected ':' after a name, found '-'"),
    ("{\\u0061: 1}", 2, "expected a name, found '\\'"),
    ("/* never", 1, "a comment without its end, */"),
    ("/* never *", 1, "a comment without its end, */"),
    ("1 / 2", 3, "a '/' that does not begin a comment"),
    ("'a\nb'", 3, "a control character (10) in a string; write it as an escape"),
    ("'abcdefghij", 1, "a string without its closing quote"),
    ("'a\"", 1, "a string without its closing quote"),
    (#"'\1'"#, 2, #"an escape with digits; write \xHH or \uXXXX"#),
    (#"'\01'"#, 2, #"an escape with digits; write \xHH or \uXXXX"#),
    (#"'\xg0'"#, 4, "expected 2 hexadecimal digits in an escape"),
    ("0x", 3, "expected a hexadecimal digit, found the end"),
    ("0x8000000000000000", 1, "a hexadecimal number too large for 64 bits"),
    ("+", 2, "expected a digit, found the end"), (".", 2, "expected a digit, found the end"),
    ("-.e1", 3, "expected a digit, found 'e'"),
    ("010", 1, "a number with a leading zero"),
    ("1e999", 1, "a number too large for a double"), ("+-1", 2, "expected a digit, found '-'"),
    ("yes", 1, "expected a value, found yes; strings need double quotes"),
    ("\u{FEFF}1", 1, "a byte order mark; write UTF-8 without it"),
  ])
  func `JSON5 is refused as strictly`(text: String, column: Int, message: String) {
    let error = #expect(throws: JSONError.self) { try JSON.parse(text, as: .json5) }
    #expect(error?.description == "line 1, column \(column): \(message)")
  }
}
