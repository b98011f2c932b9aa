internal import CascadeModel

/// A property that has the path of a file below a root. The file belongs to the values that name
/// it: see `man cascade-model`, FILES.
public struct FileReference<Source: Model>: Declared {
  /// The name of the edges.
  public let name: String
  private let path: any PartialKeyPath<Source> & Sendable
  private let root: String
  private let rules: Rules
  private let isOptional: Bool

  /// A property that may be nil.
  ///
  /// - Parameters:
  ///   - path: The property that has the path of the file, relative to the root.
  ///   - name: The name of the edges.
  ///   - root: The name of the root, as the ``ModelFile`` has it.
  ///   - rules: When the file goes. By default it goes with the last value that names it.
  ///   - place: Where it is declared; left out.
  public init(
    _ path: any KeyPath<Source, String?> & Sendable, _ name: String, root: String,
    rules: Rules = .deleteDestinationIfAllSourcesDeleted, place: DeclaredPlace = #declaredPlace
  ) {
    self.name = name
    self.path = path
    self.root = root
    self.rules = rules
    isOptional = true
  }

  /// A property that is never nil.
  ///
  /// - Parameters:
  ///   - path: The property that has the path of the file, relative to the root.
  ///   - name: The name of the edges.
  ///   - root: The name of the root, as the ``ModelFile`` has it.
  ///   - rules: When the file goes. By default it goes with the last value that names it.
  ///   - place: Where it is declared; left out.
  public init(
    _ path: any KeyPath<Source, String> & Sendable, _ name: String, root: String,
    rules: Rules = .deleteDestinationIfAllSourcesDeleted, place: DeclaredPlace = #declaredPlace
  ) {
    self.name = name
    self.path = path
    self.root = root
    self.rules = rules
    isOptional = false
  }

  /// Adds the reference to a model file.
  public func declare(in model: inout ModelFile) {
    var fields = [
      JSON.Field("name", .string(name)), JSON.Field("from", .string(Source.label)),
      JSON.Field("to", ["files": .string(root)]), Source.field(of: path),
    ]
    if !isOptional { fields.append(JSON.Field("optional", false)) }
    fields.append(JSON.Field("rules", rules.json))
    model.add(.object(fields))
  }
}
