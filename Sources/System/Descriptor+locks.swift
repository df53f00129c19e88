import Glibc

extension Descriptor {
  /// `F_OFD_GETLK` and `F_OFD_SETLK`: locks of an open file and not of a process (`fcntl(2)`), so that
  /// whoever else has the file open within this process neither shares nor drops them.
  private static let getLock: Int32 = 36
  private static let setLock: Int32 = 37

  /// Locks the whole file for as long as it is open here (`flock(2)`); false where somebody else has.
  public func tryLock() -> Bool {
    guard flock(number, LOCK_EX | LOCK_NB) == 0 else { return false }
    hasLocked.store(true, ordering: .relaxed)
    return true
  }

  /// Locks some of its bytes for as long as it is open here.
  ///
  /// - Throws: `SystemError`, also where somebody else has them locked.
  public func lockBytes(_ bytes: Range<Int>) throws(SystemError) {
    var request = Self.request(bytes)
    try retrying("fcntl", "lock \(path)") { fcntl(number, Self.setLock, &request) }
  }

  /// Whether somebody else has locked any of these bytes.
  public func isLocked(_ bytes: Range<Int>) throws(SystemError) -> Bool {
    var request = Self.request(bytes)
    try retrying("fcntl", "look at \(path)") { fcntl(number, Self.getLock, &request) }
    return request.l_type != Int16(F_UNLCK)
  }

  private static func request(_ bytes: Range<Int>) -> flock {
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(bytes.lowerBound)
    request.l_len = off_t(bytes.count)
    return request
  }
}
