import CascadeModel
import Testing
import Zstandard

/// What libzstd compresses comes back, and what is damaged is refused.
@Suite struct ZstandardTests {
  private func compressed(_ parts: [[UInt8]]) throws -> [UInt8] {
    let compressor = try ZstdCompressor()
    return try parts.enumerated().reduce(into: []) { all, part in
      all += try compressor.compress(part.element, isLast: part.offset == parts.count - 1)
    }
  }

  private func decompressed(_ bytes: [UInt8], inPartsOf size: Int) throws -> (
    [UInt8], isWhole: Bool
  ) {
    let decompressor = try ZstdDecompressor()
    var content: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      content += try decompressor.decompress(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    return (content, decompressor.isAtEnd)
  }

  @Test(arguments: [0, 1, 1_000, 3_000_000])
  func comesBackInParts(count: Int) throws {
    let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 2_654_435_761 >> 7) }
    let bytes = try compressed([
      Array(content.prefix(count / 3)), Array(content.dropFirst(count / 3)),
    ])
    for size in [1 + count / 7, 1 << 20] {
      let (found, isWhole) = try decompressed(bytes, inPartsOf: size)
      #expect(found == content && isWhole)
    }
  }

  @Test func refusesWhatIsDamaged() throws {
    let bytes = try compressed([Array("what was written".utf8)])
    #expect(try !decompressed(Array(bytes.dropLast()), inPartsOf: 4).isWhole)
    for place in bytes.indices.dropFirst(4) {
      var damaged = bytes
      damaged[place] ^= 1
      let found = try? decompressed(damaged, inPartsOf: 100)
      #expect(found == nil || !found!.isWhole)
    }
  }

  /// The vectors of FIPS 180-4.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func hashes(text: String, digest: String) {
    let hex = SHA256.digest(text.utf8).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }
    #expect(hex.joined() == digest)
  }
}
