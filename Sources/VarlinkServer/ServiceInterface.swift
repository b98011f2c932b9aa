internal import CascadeModel
internal import CascadeVarlink
internal import SystemdService

/// The interface by which every Varlink service describes itself.
extension VarlinkServer {
  static func serviceInterface(
    _ identity: Identity, describing others: [Interface]
  ) -> Interface {
    var texts = Dictionary(
      uniqueKeysWithValues: others.map { ($0.description.name, $0.description.text) })
    texts[serviceName] = serviceText
    let names = [serviceName] + others.map(\.description.name)
    let info = information(identity, names)
    let described = texts
    do {
      return try Interface(
        serviceText,
        methods: [
          "GetInfo": { _ in info },
          "GetInterfaceDescription": { call in try describe(call, described) },
        ])
    } catch {
      fatalError("\(serviceName): \(error)")
    }
  }

  private static func information(_ identity: Identity, _ names: [String]) -> JSON {
    [
      "vendor": .string(identity.vendor), "product": .string(identity.product),
      "version": .string(identity.version), "url": .string(identity.url),
      "interfaces": .array(names.map { .string($0) }),
    ]
  }

  private nonisolated static func describe(
    _ call: Call, _ texts: [String: String]
  ) throws -> JSON {
    let name = call.parameters["interface"]?.string ?? ""
    guard let text = texts[name] else { throw VarlinkError.interfaceNotFound(name) }
    return ["description": .string(text)]
  }

  private static let serviceName = "org.varlink.service"

  /// The text is given by the specification UAPI.20.
  private static let serviceText = """
    # Information that every Varlink service gives about itself.
    interface org.varlink.service

    # The vendor and the version of this service, and its interfaces.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The description of an interface, in the interface description language.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # There is no interface of this name.
    error InterfaceNotFound (interface: string)

    # The interface has no method of this name.
    error MethodNotFound (method: string)

    # The interface has the method, but the service does not implement it.
    error MethodNotImplemented (method: string)

    # A parameter is missing, unknown or of the wrong type.
    error InvalidParameter (parameter: string)

    # The caller may not do this.
    error PermissionDenied ()

    # The method must be called with 'more'.
    error ExpectedMore ()

    # The method must be called with 'upgrade'.
    error ExpectedUpgrade ()

    """
}
