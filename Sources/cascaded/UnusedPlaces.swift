internal import CascadeSystem

/// The places of a database file that nothing uses: free pages, and the space between and behind the cells of
/// a page (https://sqlite.org/fileformat2.html). What was deleted without `secure_delete` may still be there; and
/// everything in the log, as long as that is not empty.
struct UnusedPlaces: ~Copyable {
  private let file: FileDescriptor
  private let path: String
  private let pageSize: Int
  private let usable: Int
  private let freePages: Set<Int>

  /// What is searched of a text: it may be long, and lie in two pages.
  private static let longest = 40

  init(_ path: String) throws {
    let header = try UnusedPlaces.bytes(of: FileDescriptor.open(path), 100)
    let short = Int(header[16]) << 8 | Int(header[17])
    let size = short == 1 ? 65_536 : max(512, short)
    let usable = size - Int(header[20])
    let free = try UnusedPlaces.freeList(path, size, usable, first: header.number(at: 32))
    let file = try FileDescriptor.open(path)
    (self.path, pageSize, self.usable, freePages) = (path, size, usable, free)
    self.file = file
  }

  private static func bytes(of file: borrowing FileDescriptor, _ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count, let got = try file.read(into: &bytes, upTo: count - bytes.count),
      got > 0
    {}
    return bytes + [UInt8](repeating: 0, count: max(0, count - bytes.count))
  }

  /// Trunk pages list leaf pages, and the next trunk.
  private static func freeList(
    _ path: String, _ pageSize: Int, _ usable: Int, first: Int
  ) throws -> Set<Int> {
    var (pages, next) = (Set<Int>(), first)
    while next != 0, pages.insert(next).inserted {
      let file = try FileDescriptor.open(path)
      try file.skip(to: (next - 1) * pageSize)
      let trunk = try bytes(of: file, pageSize)
      let count = min(trunk.number(at: 4), usable / 4 - 2)
      for leaf in 0..<count { pages.insert(trunk.number(at: 8 + 4 * leaf)) }
      next = trunk.number(at: 0)
    }
    return pages
  }

  /// Where there is one of the texts, each place once.
  func traces(of texts: [String]) throws -> [String] {
    let patterns = texts.map { Array($0.utf8.prefix(UnusedPlaces.longest)) }
      .filter { $0.count > 3 }
    if patterns.isEmpty { return [] }
    let search = PatternSearch(patterns)
    var (found, number): ([String], Int) = ([], 0)
    try file.rewind()
    while true {
      var page: [UInt8] = []
      while page.count < pageSize,
        let got = try file.read(into: &page, upTo: pageSize - page.count), got > 0
      {}
      if page.isEmpty { break }
      number += 1
      if freePages.contains(number) {
        // A page of the list itself begins with numbers.
        if search.isAny(in: page[...]) { found.append("free page \(number)") }
      } else if unused(page, number).contains(where: { search.isAny(in: page[$0]) }) {
        found.append("beside the rows of page \(number)")
      }
    }
    if try search.isAny(in: log()[...]) { found.append("the write-ahead log") }
    return found
  }

  private func log() throws -> [UInt8] {
    guard let status = try FileStatus.of("\(path)-wal"), status.size > 0 else { return [] }
    return try FileDescriptor.open("\(path)-wal").readWhole(limit: .max) ?? []
  }

  /// The free space of a page of a B-tree.
  private func unused(_ page: [UInt8], _ number: Int) -> [Range<Int>] {
    let start = number == 1 ? 100 : 0
    guard page.count == pageSize, [2, 5, 10, 13].contains(page[start]) else { return [] }
    let head = page[start] == 2 || page[start] == 5 ? 12 : 8
    let cells = start + head + 2 * page.short(at: start + 3)
    let content = page.short(at: start + 5) == 0 ? 65_536 : page.short(at: start + 5)
    var ranges = cells < content && content <= usable ? [cells..<content] : []
    var (block, seen) = (page.short(at: start + 1), 0)
    while block > 0, block + 4 <= usable, seen < pageSize / 4 {
      let size = page.short(at: block + 2)
      if size >= 4, block + size <= usable { ranges.append(block + 4..<block + size) }
      block = page.short(at: block)
      seen += 1
    }
    return ranges
  }
}

/// Searches for many patterns at once, by their first four bytes.
private struct PatternSearch {
  private var byStart: [UInt32: [[UInt8]]] = [:]

  init(_ patterns: [[UInt8]]) {
    for pattern in Set(patterns) {
      byStart[PatternSearch.start(pattern[...], 0), default: []].append(pattern)
    }
  }

  private static func start(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[index + $1]) }
  }

  func isAny(in bytes: ArraySlice<UInt8>) -> Bool {
    if bytes.count < 4 { return false }
    var last: UInt32 = 0
    for index in bytes.indices {
      last = last << 8 | UInt32(bytes[index])
      guard index >= bytes.startIndex + 3, let patterns = byStart[last] else { continue }
      let rest = bytes[(index - 3)...]
      if patterns.contains(where: rest.starts(with:)) { return true }
    }
    return false
  }
}

extension [UInt8] {
  fileprivate func short(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }

  fileprivate func number(at index: Int) -> Int {
    (0..<4).reduce(0) { $0 << 8 | Int(self[index + $1]) }
  }
}
