internal import CascadeModel
internal import CascadeSystem
internal import SystemdService

/// A model of many stores: each database that matches is a store of its own, also one that comes later.
struct StoreTemplate: Sendable {
  let file: String
  let model: StoreModel

  /// Those that are there now.
  var stores: [StoreConfiguration] {
    get throws { try paths.map(store) }
  }

  fileprivate var paths: [String] {
    get throws { try PathPattern.matches(of: model.stores ?? "") }
  }

  fileprivate func store(at path: String) -> StoreConfiguration {
    let match = StoreModel.match(of: path, by: model.stores ?? "")
    return StoreConfiguration(
      path: path, model: model.placed(at: path, matching: match), creates: false, template: file)
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
    guard let now = try? template.paths else { return }
    let (known, there) = (Set(services.map(\.path)), Set(now))
    for service in services where service.configuration.template == template.file {
      if !there.contains(service.path) { await letGo(service) }
    }
    for path in now where !known.contains(path) { takeUp(template.store(at: path)) }
  }
}
