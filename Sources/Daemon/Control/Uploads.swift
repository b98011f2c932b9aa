internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Spool
internal import SystemdService
internal import VarlinkServer

/// Change files that are being uploaded over the socket. They grow in the spool's `tmp`, and enter
/// the queue by a rename, as files of other producers do.
@EventLoopActor
final class Uploads {
  private var uploads: [String: Upload] = [:]
  private var count = 0
  private var shares = Shares(of: Uploads.most)

  /// The number of uploads at a time: of all users, and of one.
  private static let most = 256
  private static let mostOfUser = 64
  static let largestDocument = 64 << 20

  @EventLoopActor
  final class Upload {
    let name: FileName
    let service: StoreService
    let user: UInt32
    let file: FileDescriptor
    /// Nil when the connection was closed.
    weak let session: AnyObject?
    var fingerprint = Fingerprint()
    var size = 0
    var lastUse = ContinuousClock.now
    /// Nil if the client has not told it yet.
    let title: String?

    init(_ name: FileName, _ call: Call, _ service: StoreService) throws {
      self.name = name
      session = call.session
      user = call.peer.uid
      self.service = service
      title = call.text("name")
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
    try makeRoom(for: call)
    let id = try newName()
    let upload = try Upload(FileName(id), call, service)
    uploads[id] = upload
    shares.take(for: upload.user)
    try append(bytes, upload)
    return id
  }

  private func append(_ bytes: [UInt8], _ upload: Upload) throws {
    upload.size += bytes.count
    do {
      try Uploads.refuseLong(upload, as: upload.title)
    } catch {
      drop(upload)
      throw error
    }
    upload.lastUse = .now
    upload.fingerprint.add(bytes.span)
    try upload.file.writeAll(bytes)
  }

  /// A document is read as a whole.
  static func refuseLong(_ upload: Upload, as name: String?) throws {
    if upload.size <= largestDocument || name?.hasSuffix(".json") != true { return }
    throw VarlinkError.unusable(
      "data", "the .json change file is larger than 64 MiB: write it as lines, in a .ndjson file")
  }

  /// Removes an upload from the list. The caller must move or drop its file.
  func take(_ id: String) -> Upload? {
    guard let upload = uploads.removeValue(forKey: id) else { return nil }
    shares.take(-1, for: upload.user)
    return upload
  }

  /// Where a user has too many uploads, the one that was not continued for longest makes room,
  /// unless it is of the same client.
  private func makeRoom(for call: Call) throws {
    let user = call.peer.uid
    if shares.part(of: user) < Uploads.mostOfUser && shares.hasRoom(of: user) { return }
    let others = uploads.values.filter { $0.user == user && $0.session !== call.session }
    guard let oldest = others.min(by: { $0.lastUse < $1.lastUse }) else {
      throw StoreError("too many uploads at once: a user may have \(Uploads.mostOfUser)")
    }
    drop(oldest)
  }

  private func drop(_ upload: Upload) {
    _ = take(upload.name.description)
    try? upload.service.spool.dropUpload(upload.name)
  }

  private func newName() throws -> String {
    count += 1
    let random = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    return "upload-\(count)-\(random)"
  }

  private func dropAbandoned() {
    for upload in uploads.values where upload.session == nil { drop(upload) }
  }
}
