internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Glibc

/// The store that is named, or each store of the daemon.
enum EachStore {
  private struct Store {
    /// Nil for the only store of the daemon.
    var path: String?
    /// Why the store is not there now.
    var absence: String?

    init(path: String?) { self.path = path }

    init(_ status: JSON) {
      path = status["store"]?.string
      if status["state"] == "waiting" { absence = status["reason"]?.string ?? "" }
    }
  }

  /// Runs a command for one store after the other. With several, `title` names the store. A failure does not
  /// stop the others, nor does a store that is away. Returns the worst status.
  static func run(
    _ client: inout ControlClient, _ body: (inout ControlClient, _ title: String) throws -> CInt
  ) throws -> CInt {
    let stores = try stores(&client)
    client.store = stores[0].path
    if stores.count == 1 { return try body(&client, "") }
    var status = EX_OK
    for store in stores {
      client.store = store.path
      status = max(status, try run(&client, store, body))
    }
    return status
  }

  private static func run(
    _ client: inout ControlClient, _ store: Store,
    _ body: (inout ControlClient, String) throws -> CInt
  ) throws -> CInt {
    let name = store.path?.printable ?? ""
    do {
      if let absence = store.absence { throw Failure(absence.printable, EX_TEMPFAIL) }
      return try body(&client, "\(name): ")
    } catch let error as VarlinkClientError {
      return complain(of: name, Failure(error))
    } catch let failure as Failure {
      return complain(of: name, failure)
    }
  }

  private static func complain(of store: String, _ failure: Failure) -> CInt {
    Output.complain("cascadectl: \(store): \(failure.text)")
    return failure.status
  }

  private static func stores(_ client: inout ControlClient) throws -> [Store] {
    if let store = client.store { return [Store(path: store)] }
    let all = try client.call("Status")["stores"]?.array?.map(Store.init) ?? []
    return all.count > 1 ? all : [Store(path: nil)]
  }
}
