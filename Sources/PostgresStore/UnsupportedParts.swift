internal import CascadeModel
internal import CascadePostgres
internal import PostgresSweeps

/// What this engine cannot do yet is refused when the model is read, and never passed over.
enum UnsupportedParts {
  static func problems(of model: StoreModel, at path: String) -> [ModelProblem] {
    locationProblems(path, model)
      + model.fetched.sorted { $0.key < $1.key }.flatMap { collection, properties in
        properties.filter { $0.value.store != nil }.keys.sorted().map {
          notYet("collections.\(collection).fetched.\($0).store", "properties of another store")
        }
      }
      + model.relationships.enumerated().flatMap { index, relationship in
        problems(of: relationship, model).map {
          ModelProblem(path: "relationships[\(index)]", message: $0)
        }
      }
  }

  private static func notYet(_ path: String, _ what: String) -> ModelProblem {
    ModelProblem(path: path, message: "\(what) are not supported on PostgreSQL yet")
  }

  private static func locationProblems(_ path: String, _ model: StoreModel) -> [ModelProblem] {
    guard path.isDatabaseURI else {
      return [
        ModelProblem(
          path: "store", message: "\(path) is no PostgreSQL database: cascaded serves files")
      ]
    }
    var problems: [ModelProblem] = []
    do throws(InvalidLocation) {
      _ = try Location(path)
    } catch {
      problems.append(ModelProblem(path: "store", message: error.description))
    }
    if model.spool == nil {
      problems.append(
        ModelProblem(
          path: "spool",
          message: "missing: a database of a server needs a directory for its change files"))
    }
    return problems
  }

  private static func problems(of relationship: Relationship, _ model: StoreModel) -> [String] {
    var parts: [String] = []
    let to = relationship.to.collections
    if case .files = relationship.to {
      if relationship.min != nil || relationship.max != nil || relationship.unique
        || !relationship.optional || !relationship.none.isEmpty
      {
        parts.append("conditions of files, and paths that mean \"none\",")
      }
    } else if to.isEmpty
      || to.contains(where: { model.collections[model.collection(of: $0)] == nil })
    {
      parts.append("destinations that are not collections of the model")
    }
    if model.collections[model.collection(of: relationship.from)] == nil {
      parts.append("sources that are no collection of the model")
    }
    return parts.map { "\($0) are not supported on PostgreSQL yet" }
  }
}
