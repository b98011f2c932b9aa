/// The value that a change file gives to a column: JSON, or what JSON cannot say, as an object with
/// one member.
package enum GivenValue: Hashable, Sendable {
  case json(JSON)
  /// `{"$blob": "base64"}`
  case blob([UInt8])
  /// `{"$real": "Infinity"}`
  case real(Double)
  /// `{"$text": "base64"}`: bytes that may be no UTF-8, or have a NUL.
  case text([UInt8])

  /// The names of the members.
  package enum Form: String, CaseIterable, Sendable {
    case blob = "$blob"
    case real = "$real"
    case text = "$text"
  }

  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
  }

  package init(_ value: JSONText) throws(Malformed) {
    guard let (form, content) = GivenValue.form(of: value) else {
      self = .json(value.json)
      return
    }
    switch form {
    case .blob: self = .blob(try GivenValue.bytes(content, form))
    case .text: self = .text(try GivenValue.bytes(content, form))
    case .real: self = .real(try GivenValue.real(content))
    }
  }

  /// An object with other members beside is an ordinary one.
  private static func form(of value: JSONText) -> (Form, JSON)? {
    guard value.text.utf8.first == UInt8(ascii: "{"), let members = value.members(),
      members.count == 1, let form = Form(rawValue: members[0].name)
    else { return nil }
    return (form, members[0].value.json)
  }

  private static func bytes(_ content: JSON, _ form: Form) throws(Malformed) -> [UInt8] {
    guard let text = content.string, let bytes = Base64.decode(text) else {
      throw Malformed("\"\(form.rawValue)\" needs a string in base64")
    }
    return bytes
  }

  private static let reals = [
    "Infinity": Double.infinity, "-Infinity": -Double.infinity, "NaN": Double.nan,
  ]

  private static func real(_ content: JSON) throws(Malformed) -> Double {
    if let text = content.string, let number = reals[text] { return number }
    throw Malformed(
      "\"$real\" needs \"Infinity\", \"-Infinity\" or \"NaN\"; write other numbers as JSON")
  }

  /// As a change file writes it; of bytes, only where they are a column's.
  package var json: JSON {
    switch self {
    case .json(let json): json
    case .blob(let bytes): [Form.blob.rawValue: .string(Base64.encode(bytes[...]))]
    case .text(let bytes): [Form.text.rawValue: .string(Base64.encode(bytes[...]))]
    case .real(let number) where number.isNaN: [Form.real.rawValue: "NaN"]
    case .real(let number) where !number.isFinite:
      [Form.real.rawValue: .string(number < 0 ? "-Infinity" : "Infinity")]
    case .real(let number): .number(number)
    }
  }
}
