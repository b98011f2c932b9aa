internal import CZstd

/// Why bytes cannot be compressed, or are not what was compressed.
package struct ZstdError: Error, CustomStringConvertible {
  package let description: String

  /// The last part of a stream is missing.
  package static let isCut = ZstdError(description: "zstd: the file ends within its content")

  fileprivate static func check(_ result: Int) throws(ZstdError) -> Int {
    if ZSTD_isError(result) == 0 { return result }
    let name = unsafe ZSTD_getErrorName(result).map { unsafe String(cString: $0) }
    throw ZstdError(description: "zstd: \(name ?? "unknown error")")
  }
}

/// Compresses a stream, a part after the other. A checksum of the content ends it.
@safe
package struct ZstdCompressor: ~Copyable {
  private let context: OpaquePointer

  package init() throws(ZstdError) {
    guard let context = unsafe ZSTD_createCCtx() else {
      throw ZstdError(description: "zstd: no memory")
    }
    // Every version knows this one.
    _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    unsafe self.context = context
  }

  deinit { unsafe ZSTD_freeCCtx(context) }

  /// Returns what is to be written next.
  package func compress(
    _ bytes: [UInt8], isLast: Bool = false
  ) throws(ZstdError) -> [UInt8] {
    let mode = isLast ? ZSTD_e_end : ZSTD_e_continue
    return try unsafe streamed(bytes, through: ZSTD_CStreamOutSize()) { output, input in
      let rest = unsafe ZSTD_compressStream2(context, output, input, mode)
      // Until all is taken, or all is flushed.
      return (rest, unsafe isLast ? rest == 0 : input.pointee.pos == input.pointee.size)
    }
  }
}

/// Brings such a stream back, a part after the other.
@safe
package final class ZstdDecompressor {
  private let context: OpaquePointer
  /// Whether a stream has ended where the bytes so far did.
  package private(set) var isAtEnd = true

  package init() throws(ZstdError) {
    guard let context = unsafe ZSTD_createDCtx() else {
      throw ZstdError(description: "zstd: no memory")
    }
    unsafe self.context = context
  }

  deinit { unsafe ZSTD_freeDCtx(context) }

  package func decompress(_ bytes: [UInt8]) throws(ZstdError) -> [UInt8] {
    if bytes.isEmpty { return [] }
    var last = 0
    let size = ZSTD_DStreamOutSize()
    let context = unsafe context
    let content = try unsafe streamed(bytes, through: size) { output, input in
      last = unsafe ZSTD_decompressStream(context, output, input)
      // A full buffer may not have been all.
      let isTaken = unsafe input.pointee.pos == input.pointee.size && output.pointee.pos < size
      return (last, isTaken)
    }
    isAtEnd = last == 0
    return content
  }
}

/// Calls `step` with buffers until it says that it is done. Returns all that it has put out.
private func streamed(
  _ bytes: [UInt8], through size: Int,
  _ step: (UnsafeMutablePointer<ZSTD_outBuffer>, UnsafeMutablePointer<ZSTD_inBuffer>) -> (Int, Bool)
) throws(ZstdError) -> [UInt8] {
  var (content, failure): ([UInt8], ZstdError?) = ([], nil)
  unsafe bytes.withUnsafeBytes { bytes in
    var input = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
    var isDone = false
    while !isDone && failure == nil {
      let part = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        var output = unsafe ZSTD_outBuffer(dst: buffer.baseAddress, size: size, pos: 0)
        let (result, done) = unsafe step(&output, &input)
        do throws(ZstdError) { _ = try ZstdError.check(result) } catch { failure = error }
        isDone = done
        count = unsafe output.pos
      }
      content += part
    }
  }
  if let failure { throw failure }
  return content
}
