internal import Glibc

/// The paths that a pattern with `*`, `?` and `[…]` matches now, in the order of their bytes.
package enum PathPattern {
  /// Throws where a directory could not be looked through: what is in it is not gone.
  package static func matches(of pattern: String) throws(SystemError) -> [String] {
    var found = unsafe glob_t()
    defer { unsafe globfree(&found) }
    let result = unsafe glob(pattern, GLOB_NOSORT, endsSearch, &found)
    if result == GLOB_NOMATCH { return [] }
    if result != 0 {
      throw SystemError(code: result == GLOB_NOSPACE ? ENOMEM : errno, call: "glob", path: pattern)
    }
    let paths = unsafe (0..<Int(found.gl_pathc)).compactMap { index in
      unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
    }
    return paths.sorted()
  }

  /// What may not be entered, or was removed meanwhile, has no matches.
  private static let endsSearch: @convention(c) (UnsafePointer<CChar>?, CInt) -> CInt = { _, code in
    [ENOENT, ENOTDIR, EACCES, ELOOP].contains(code) ? 0 : 1
  }
}
