internal import Glibc

/// The paths that a pattern with `*`, `?` and `[…]` matches now, in the order of their bytes.
package enum PathPattern {
  package static func matches(of pattern: String) -> [String] {
    var found = unsafe glob_t()
    defer { unsafe globfree(&found) }
    guard unsafe glob(pattern, GLOB_NOSORT, nil, &found) == 0 else { return [] }
    let paths = unsafe (0..<Int(found.gl_pathc)).compactMap { index in
      unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
    }
    return paths.sorted()
  }
}
