package import CascadeModel

extension StoreModel {
  /// Without the hold limit, which would stop what a test wants to see.
  package static var lenient: StoreModel {
    var model = StoreModel.empty
    model.limits.hold.deletes = .max
    return model
  }

  package init(_ text: String) throws {
    try self.init(json5: Array(text.utf8))
    if limits.hold.deletes == 1000 { limits.hold.deletes = .max }
  }
}

extension String {
  package func replacingLastBrace(with text: String) -> String {
    String(self[..<lastIndex(of: "}")!]) + text
  }
}
