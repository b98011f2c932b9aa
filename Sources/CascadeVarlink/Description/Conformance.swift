package import CascadeModel

/// Checks that a value has the shape that the description gives it.
extension Description {
  /// The path of the first part that does not have its described shape, such as `filter.names[2]`,
  /// or nil. Null counts as an empty object, because absent, null and {} all mean "no parameters".
  package func mismatch(of value: JSON, with fields: [Field]) -> String? {
    mismatch(value.isNull ? .object([]) : value, .structure(fields), "")
  }

  private func mismatch(_ value: JSON, _ shape: Shape, _ path: String) -> String? {
    switch (shape, value) {
    // Raw text is written unchanged. It was parsed at its origin and is not parsed again.
    case (_, .raw), (.any, _), (.object, _): nil
    case (.optional, .null): nil
    case (.optional(let shape), _): mismatch(value, shape, path)
    case (.named(let name), _): types[name].flatMap { mismatch(value, $0, path) }
    case (.bool, .bool), (.string, .string), (.float, .integer): nil
    case (.float, .number), (.int, .integer): nil
    case (.choice(let names), .string(let name)): names.contains(name) ? nil : path
    case (.list(let shape), .array(let values)): mismatch(values, shape, path)
    case (.map(let shape), .object(let members)): mismatch(members, shape, path)
    case (.structure(let fields), .object(let members)): mismatch(members, fields, path)
    default: path
    }
  }

  private func mismatch(_ values: [JSON], _ shape: Shape, _ path: String) -> String? {
    for (index, value) in values.enumerated() {
      if let bad = mismatch(value, shape, "\(path)[\(index)]") { return bad }
    }
    return nil
  }

  private func mismatch(_ members: [JSON.Field], _ shape: Shape, _ path: String) -> String? {
    for member in members {
      if let bad = mismatch(member.value, shape, join(path, member.name)) { return bad }
    }
    return nil
  }

  private func mismatch(
    _ members: [JSON.Field], _ fields: [Field], _ path: String
  ) -> String? {
    for member in members where !fields.contains(where: { $0.name == member.name }) {
      return join(path, member.name)
    }
    for field in fields {
      let value = members.first { $0.name == field.name }?.value ?? .null
      if let bad = mismatch(value, field.shape, join(path, field.name)) { return bad }
    }
    return nil
  }

  private func join(_ path: String, _ name: String) -> String {
    path.isEmpty ? name : "\(path).\(name)"
  }
}

extension Description {
  package static func parse(_ text: String) throws(DescriptionError) -> Description {
    try DescriptionParser.parse(text)
  }
}
