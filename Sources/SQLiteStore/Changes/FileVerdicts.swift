package import CascadeStore
internal import CascadeSQLite
package import SQLiteTables

extension Writer {
  package func saveVerdict(_ verdict: FileVerdict) throws {
    try db.run(
      "INSERT OR REPLACE INTO cascade_verdict VALUES(?, ?, ?)", .blob(verdict.name),
      .integer(verdict.fingerprint), .text(verdict.reasons))
  }

  package var verdicts: [FileVerdict] {
    get throws {
      if attachment.isDetached { return [] }
      return try db.all("SELECT name, fingerprint, reasons FROM cascade_verdict ORDER BY name") {
        guard case .blob(let name) = $0.value(0) else { return nil }
        return FileVerdict(name: name, fingerprint: $0.integer(1), reasons: $0.optionalText(2))
      }.compactMap(\.self)
    }
  }

  package func deleteVerdicts(but stuck: Set<[UInt8]>) throws {
    let gone = try verdicts.filter { !stuck.contains($0.name) }
    if gone.isEmpty { return }
    try group {
      for verdict in gone {
        try db.run("DELETE FROM cascade_verdict WHERE name = ?", .blob(verdict.name))
      }
    }
  }
}
