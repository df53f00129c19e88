import Foundation
import Glibc
import TestSupport
import Testing

@testable import Observability

/// A log that goes to a file.
final class LogFile: Sendable {
  /// 2026-11-21T05:19:46.123Z
  static let time = 1_795_238_386_123_456_789

  let sink: LogSink
  private let folder = TemporaryFolder()
  private let descriptor: Int32

  init(_ format: LogFormat, maximumBytes: Int = LogSink.defaultMaximumBytes) {
    descriptor = open(folder.file("log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    sink = LogSink(
      descriptor: descriptor, format: format, maximumBytes: maximumBytes, now: { Self.time })
  }

  deinit {
    sink.flush()
    close(descriptor)
  }

  /// All that was written so far.
  func text() throws -> String {
    try #require(sink.flush(atMostMilliseconds: 600_000))
    return String(
      decoding: try Data(contentsOf: URL(fileURLWithPath: folder.file("log"))), as: UTF8.self)
  }
}
