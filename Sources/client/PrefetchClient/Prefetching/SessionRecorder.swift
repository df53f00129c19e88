import Foundation
import PostJSON
import Prefetch
import Synchronization

/// Writes a recording of a session to a file, line by line, as `SessionLog` reads it: the engine's events and
/// actions, what the person saw, and for how long. Each line is one write, so that a killed process leaves at
/// worst an incomplete last line. The file has no bytes of media, but it has the ids and addresses of items.
public final class SessionRecorder: Sendable {
  private let file: SystemFile
  private let limitBytes: Int
  private let state = Mutex(State())

  private struct State {
    var position = 0
    var isCut = false
    var error: RangeStoreError?
  }

  /// Creates a recorder that overwrites this file.
  ///
  /// - Parameter limitBytes: the maximum size of the file. If the recording reaches it, the last line says
  ///   so.
  /// - Throws: `RangeStoreError.system`.
  public init(file: URL, limitBytes: Int = 268_435_456) throws(RangeStoreError) {
    self.file = try SystemFile(path: file.path, create: true)
    self.limitBytes = limitBytes
    try self.file.truncate(to: 0)
  }

  /// The error of a failed write, after which nothing more is written. The session continues.
  public var error: RangeStoreError? { state.withLock { $0.error } }

  func begin(_ engine: PrefetchEngine, at milliseconds: Int) {
    write(SessionLog.line(beginning: engine, at: milliseconds), at: milliseconds)
  }

  func note(_ event: PrefetchEvent, _ actions: [PrefetchAction], at milliseconds: Int) {
    write(SessionLog.lines(event, actions, at: milliseconds), at: milliseconds)
  }

  func note(_ look: SessionLog.Look) { write(SessionLog.line(look), at: look.atMilliseconds) }

  func noteEnd(of item: String, from start: Int, waitMilliseconds: Int, at milliseconds: Int) {
    write(
      SessionLog.line(
        leaving: item, at: milliseconds, dwellMilliseconds: milliseconds - start,
        waitMilliseconds: waitMilliseconds), at: milliseconds)
  }

  private func write(_ bytes: [UInt8], at milliseconds: Int) {
    state.withLock { state in
      guard !state.isCut, state.error == nil else { return }
      let last = SessionLog.line(cutAt: milliseconds)
      var bytes = bytes
      if state.position + bytes.count + last.count > limitBytes {
        state.isCut = true
        bytes = state.position + last.count > limitBytes ? [] : last
      }
      do throws(RangeStoreError) {
        try file.write(bytes[...], at: state.position)
        state.position += bytes.count
      } catch {
        state.error = error
      }
    }
  }
}
