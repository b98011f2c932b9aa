internal import CascadeModel
internal import Spool
internal import Store
internal import CascadeSystem
internal import CascadeVarlink
/// Change files on their way over the socket: they grow in the spool's `tmp`, and enter the queue
/// by the same rename as everybody's.
@EventLoopActor
final class Uploads {
  private var uploads: [String: Upload] = [:]
  private var count = 0

  /// So many at once.
  private static let most = 256

  @EventLoopActor
  final class Upload {
    let name: FileName
    let service: StoreService
    let user: UInt32
    let file: FileDescriptor
    /// Gone when the connection is.
    weak let session: AnyObject?
    var fingerprint = Fingerprint()

    init(_ name: FileName, _ call: Call, _ service: StoreService) throws {
      self.name = name
      session = call.session
      user = call.peer.uid
      self.service = service
      file = try service.spool.makeUpload(name)
    }
  }

  /// Begins an upload, or goes on with one. Nil if nobody knows it.
  func append(
    _ bytes: [UInt8], to id: String?, for call: Call, _ service: StoreService
  ) throws -> String? {
    if let id {
      guard let upload = uploads[id] else { return nil }
      try append(bytes, upload)
      return id
    }
    dropAbandoned()
    if uploads.count >= Uploads.most { throw StoreError("too many uploads at once") }
    let id = try newName()
    let upload = try Upload(FileName(id), call, service)
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

  private func dropAbandoned() {
    for (id, upload) in uploads where upload.session == nil {
      uploads[id] = nil
      try? upload.service.spool.dropUpload(upload.name)
    }
  }
}
