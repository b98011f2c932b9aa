internal import CascadeModel
internal import CascadeSystem
internal import SystemdService

/// A model of many stores: each database that matches is a store of its own, also one that comes later.
struct StoreTemplate: Sendable {
  let file: String
  let model: StoreModel

  /// Those that are there now.
  var stores: [StoreConfiguration] {
    get throws {
      let pattern = model.stores ?? ""
      return try PathPattern.matches(of: pattern).map { path in
        let match = StoreModel.match(of: path, by: pattern)
        return StoreConfiguration(
          path: path, model: model.placed(at: path, matching: match), creates: false, template: file
        )
      }
    }
  }
}

extension Stores {
  /// Takes up databases that match a model of many stores, and lets go of those that are gone.
  func followTemplates() async {
    while (try? await EventLoop.sleep(for: .seconds(4), tolerance: .seconds(2))) != nil {
      if templates.isEmpty { try? await templatesChanged.wait() }
      for template in templates { await follow(template) }
    }
  }

  private func follow(_ template: StoreTemplate) async {
    // What could not be looked through is looked through the next time.
    guard let now = try? template.stores else { return }
    let known = Set(services.map(\.path))
    let paths = Set(now.map(\.path))
    for service in services where service.configuration.template == template.file {
      if !paths.contains(service.path) { await letGo(service) }
    }
    for store in now where !known.contains(store.path) { takeUp(store) }
  }
}
