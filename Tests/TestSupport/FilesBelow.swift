package import CascadeSystem

extension Directory {
  /// Creates files that each have their own path as text, and the directories above them.
  package func write(_ paths: [String]) throws {
    for path in paths {
      let parts = path.split(separator: "/").map(String.init)
      let parent = parts.dropLast().joined(separator: "/")
      let place =
        try parent.isEmpty ? directory(".") : makeDirectory(beneath: parent, mode: 0o777)
      try place.file(FileName(parts.last!), .createNew).writeAll(Array(path.utf8))
    }
  }

  /// What a file below says.
  package func text(_ name: String) -> String? {
    guard let file = try? FileDescriptor.open("\(path)/\(name)") else { return nil }
    return (try? file.readWhole(limit: 1 << 20)).flatMap {
      $0.map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
