package import CascadeStore
internal import CascadeSystem

extension FileWork {
  /// Does something with a file. If that fails, it is tried again at the next occasion.
  package mutating func attempt(_ body: (inout FileWork) throws -> Void) throws {
    do {
      try body(&self)
    } catch let error as SystemError {
      waiting.insert("\(error)")
    } catch let error as UnmovableFile {
      waiting.insert(error.reason)
    } catch let error as UnusableTrash {
      waiting.insert(error.description)
    }
  }
}
