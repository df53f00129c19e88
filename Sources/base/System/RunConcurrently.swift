/// Calls the body for each number below `count`, each on a thread of its own and the first on the caller's,
/// and returns when all are done. If the system has no more threads, the caller does their work as well.
public func runConcurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let unfinished = Monitor(count)
  let run: @Sendable (Int) -> Void = { index in
    body(index)
    let isLast = unfinished.withLock { unfinished in
      unfinished -= 1
      return unfinished == 0
    }
    if isLast { unfinished.notify() }
  }
  for index in 1..<max(1, count) {
    do throws(SystemError) {
      try startThread { run(index) }
    } catch {
      run(index)
    }
  }
  if count > 0 { run(0) }
  unfinished.wait { $0 <= 0 ? () : nil }
}
