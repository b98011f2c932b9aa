/// Base64 encoding for bytes within JSON (RFC 4648, section 4).
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: .max, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  package static func encode(_ bytes: ArraySlice<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes
    while !rest.isEmpty {
      let group = rest.prefix(3)
      rest = rest.dropFirst(3)
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        let letter = alphabet[bits >> (18 - 6 * place) & 63]
        text.append(place <= group.count ? letter : padding)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil when the text is not valid base64, or not the only text of its bytes.
  package static func decode(_ text: String) -> [UInt8]? {
    let letters = Array(text.utf8)
    if letters.count % 4 != 0 { return nil }
    let padded = letters.suffix(2).count { $0 == padding }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(letters.count / 4 * 3)
    var bits = 0
    for (index, letter) in letters.dropLast(padded).enumerated() {
      let value = values[Int(letter)]
      if value == .max { return nil }
      bits = bits << 6 | Int(value)
      if index % 4 == 3 {
        bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
        bits = 0
      }
    }
    if bits & ((1 << (2 * padded)) - 1) != 0 { return nil }
    if padded == 2 { bytes.append(UInt8(bits >> 4 & 255)) }
    if padded == 1 { bytes += [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)] }
    return bytes
  }
}
