internal import CascadePostgres

/// Keys as an array of texts in SQL, with the values of `$1`, `$2`, …
package struct KeyArray {
  package let sql: String
  package let values: [String?]

  package init(sql: String, values: [String?]) { (self.sql, self.values) = (sql, values) }

  package init(_ keys: [String]) { self.init(sql: "$1", values: [arrayText(keys)]) }
}
