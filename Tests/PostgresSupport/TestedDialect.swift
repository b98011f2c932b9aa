package import CascadePostgres
internal import CascadeSystem

/// The dialect in which stores are opened: `CASCADE_DIALECT`, or what a test asks for.
package enum TestedDialect {
  @TaskLocal package static var current =
    Process.environment("CASCADE_DIALECT").flatMap(Dialect.init) ?? .fast

  package static func run<T>(_ dialect: Dialect, _ body: () throws -> T) rethrows -> T {
    try $current.withValue(dialect, operation: body)
  }
}
