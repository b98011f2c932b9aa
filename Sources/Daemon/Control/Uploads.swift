internal import CascadeModel
internal import CascadeSystem
internal import Spool
internal import SQLiteTables
internal import SystemdService
internal import VarlinkServer

/// Change files that are being uploaded over the socket. They grow in the spool's `tmp`, and enter
/// the queue by a rename, as files of other producers do.
@EventLoopActor
final class Uploads {
  private var uploads: [String: Upload] = [:]
  private var count = 0

  /// The number of uploads at a time.
  private static let most = 256

  @EventLoopActor
  final class Upload {
    let name: FileName
    let service: StoreService
    let user: UInt32
    let file: FileDescriptor
    /// Nil when the connection was closed.
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

  /// Begins an upload, or continues one. Nil if there is no upload with this id.
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

  /// Removes an upload from the list. The caller must move or drop its file.
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
