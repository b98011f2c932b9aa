internal import CascadeSystem

/// The threads that all stores share. Each purpose has some of its own, so that long work of one never keeps
/// another waiting: a change file in line behind many sweeps, or `status` behind many questions.
enum StoreThreads {
  static let writers = ThreadPool("writer", most: 12)
  static let readers = ThreadPool("reader", most: 8)
  static let status = ThreadPool("status", most: 4)
  static let queries = ThreadPool("query", most: 6)
}
