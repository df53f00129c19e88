import Glibc

/// How many descriptors the process may have (`RLIMIT_NOFILE`).
public enum DescriptorLimit {
  /// What it is, and how far the process may raise it; nil where the system does not say.
  static var current: rlimit? {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
  }

  /// Raises the limit as far as the process may, and returns what it is then.
  @discardableResult
  public static func raise() -> Int {
    guard var limit = current else { return 0 }
    if limit.rlim_cur < limit.rlim_max {
      var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
      if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
