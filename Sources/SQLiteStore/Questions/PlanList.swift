internal import CascadeModel
internal import CascadeSQLite

extension Reader {
  /// The newest plan of each file that waits for approval, by the file's name.
  package func plansOfFiles() throws -> [String: (plan: Int64, deletedCount: Int)] {
    let plans = try db.all(
      """
      SELECT file, plan, deleted FROM cascade_plan WHERE file <> '' AND file NOT GLOB '/*'
      ORDER BY plan
      """
    ) { ($0.text(0), (plan: $0.integer(1), deletedCount: Int($0.integer(2)))) }
    return Dictionary(plans) { _, newer in newer }
  }
}
