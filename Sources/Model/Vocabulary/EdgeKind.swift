/// Where an edge lives (DESIGN 4).
package enum EdgeKind: String, Hashable, Sendable {
  case stored, column, join, property, polymorphic, file
}
