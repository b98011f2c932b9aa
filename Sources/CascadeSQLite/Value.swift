/// A value that is bound or was read.
package enum Value: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  package static func text(_ text: String?) -> Value {
    if let text { .text(text) } else { .null }
  }

  package static func integer(_ number: Int64?) -> Value {
    if let number { .integer(number) } else { .null }
  }
}
