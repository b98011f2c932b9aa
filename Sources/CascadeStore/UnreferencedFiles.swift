package import CascadeModel

/// Files that no edge ever named. They may belong to an application, so they are only listed.
package struct UnreferencedFiles: Sendable {
  package var count = 0
  /// The first of them, sorted.
  package var files: [Destination] = []
  /// Roots, and directories in them, that could not be read.
  package var unreadable: [String] = []

  package init() {}
}
