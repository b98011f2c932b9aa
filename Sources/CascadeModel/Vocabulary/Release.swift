/// The version of all parts of Cascade. The changelog begins with it.
package enum Release {
  package static let version = "0.2.0"
}
