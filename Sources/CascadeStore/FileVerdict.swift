/// The judgement of a change file that was not applied, committed together with the group. If the
/// daemon is killed after that commit, the file must not be judged again after files that came
/// later.
package struct FileVerdict: Sendable {
  /// The name of the file, which need not be UTF-8.
  package let name: [UInt8]
  package let fingerprint: Int64
  /// As in the reason file beside the change file; nil if the file waits for approval.
  package let reasons: String?

  package init(name: [UInt8], fingerprint: Int64, reasons: String?) {
    (self.name, self.fingerprint, self.reasons) = (name, fingerprint, reasons)
  }
}
