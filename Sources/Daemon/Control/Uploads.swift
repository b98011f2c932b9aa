internal import Model
internal import Spool
internal import System

/// Change files on their way over the socket: they grow in the spool's `tmp`, and enter the queue
/// by the same rename as everybody's.
@EventLoopActor
final class Uploads {
  private var uploads: [String: Upload] = [:]
  private var count = 0

  /// So many at once, and none for longer than this.
  private static let most = 256
  private static let lifetime: Int64 = 3_600_000

  final class Upload {
    let name: FileName
    let service: StoreService
    let file: FileDescriptor
    let began = SystemClock.monotonic()
    var fingerprint = Fingerprint()

    init(_ name: FileName, _ service: StoreService) throws {
      self.name = name
      self.service = service
      file = try service.spool.makeUpload(name)
    }
  }

  /// Begins an upload, or goes on with one. Nil if nobody knows it.
  func append(_ bytes: [UInt8], to id: String?, of service: StoreService) throws -> String? {
    if let id {
      guard let upload = uploads[id] else { return nil }
      try append(bytes, upload)
      return id
    }
    dropStale()
    let id = try newName()
    let upload = try Upload(FileName(id), service)
    uploads[id] = upload
    try append(bytes, upload)
    return id
  }

  private func append(_ bytes: [UInt8], _ upload: Upload) throws {
    upload.fingerprint.add(bytes.span)
    try upload.file.writeAll(bytes)
  }

  /// Hands an upload over: it is its taker's to move or to drop.
  func take(_ id: String) -> Upload? { uploads.removeValue(forKey: id) }

  private func newName() throws -> String {
    count += 1
    let random = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    return "upload-\(count)-\(random)"
  }

  private func dropStale() {
    let limit = SystemClock.monotonic() - Uploads.lifetime
    for (id, upload) in uploads where upload.began < limit || uploads.count >= Uploads.most {
      uploads[id] = nil
      try? upload.service.spool.dropUpload(upload.name)
    }
  }
}
