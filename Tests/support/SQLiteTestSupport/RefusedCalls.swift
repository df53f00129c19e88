import GRDBSQLite
import Glibc
import Synchronization

/// Refuses what SQLite reads of files of given paths, or writes to them, below everything of ours: in the table of
/// system calls that SQLite has for that (https://sqlite.org/c3ref/vfs.html).
package enum RefusedCalls {
  /// What is refused.
  package enum Kind: Sendable { case reads, writes }

  private struct State {
    var reads: [String: CInt] = [:]
    var writes: [String: CInt] = [:]
  }

  private static let state = Mutex(State())

  private typealias Read = @convention(c) (CInt, UnsafeMutableRawPointer?, Int, off_t) -> Int
  private typealias Write = @convention(c) (CInt, UnsafeRawPointer?, Int, off_t) -> Int

  private static let isInstalled: Bool = {
    let read: Read = { descriptor, bytes, count, offset in
      if RefusedCalls.refuses(descriptor, \.reads) { return -1 }
      return pread(descriptor, bytes, count, offset)
    }
    let write: Write = { descriptor, bytes, count, offset in
      if RefusedCalls.refuses(descriptor, \.writes) { return -1 }
      return pwrite(descriptor, bytes, count, offset)
    }
    guard let system = sqlite3_vfs_find("unix") else { return false }
    // Which of the two of each it calls depends on how it was built.
    let calls = [
      ("pread", unsafeBitCast(read, to: sqlite3_syscall_ptr.self)),
      ("pread64", unsafeBitCast(read, to: sqlite3_syscall_ptr.self)),
      ("pwrite", unsafeBitCast(write, to: sqlite3_syscall_ptr.self)),
      ("pwrite64", unsafeBitCast(write, to: sqlite3_syscall_ptr.self)),
    ]
    return calls.count { system.pointee.xSetSystemCall(system, $0.0, $0.1) == SQLITE_OK } >= 2
  }()

  /// From now on; `nil`: no longer.
  package static func refuse(_ kind: Kind = .writes, of path: String, with errno: CInt?) {
    precondition(isInstalled, "SQLite neither reads with pread(2) nor writes with pwrite(2)")
    state.withLock { state in
      switch kind {
      case .reads: state.reads[path] = errno
      case .writes: state.writes[path] = errno
      }
    }
  }

  private static func refuses(
    _ descriptor: CInt, _ kind: KeyPath<State, [String: CInt]>
  ) -> Bool {
    guard state.withLock({ !$0[keyPath: kind].isEmpty }) else { return false }
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &path, path.count)
    guard count > 0 else { return false }
    let name = String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let reason = state.withLock({ $0[keyPath: kind][name] }) else { return false }
    errno = reason
    return true
  }
}
