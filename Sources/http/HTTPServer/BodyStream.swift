import HTTP
import System

/// Why a body ends early.
public enum BodyStreamError: Error, Sendable, Hashable {
  /// The message was refused, and the client was told why.
  case refused(ProtocolError)
  /// The connection is closed.
  case disconnected
  /// The application does not want the rest.
  case cancelled
}

extension BodyStreamError: CustomStringConvertible {
  /// What happened to the body.
  public var description: String {
    switch self {
    case .refused(let error): error.description
    case .disconnected: "The connection was closed within the body."
    case .cancelled: "The rest of the body was not read."
    }
  }
}

/// A request's body as it arrives, for the body policy `.stream`: the connection adds bytes, and one thread
/// of the application reads them.
///
/// It holds at most `bufferBytes` and one read more: while more waits, the connection reads nothing, so that
/// a client sends no faster than the application reads. The waiting bytes are one array, however small the
/// pieces were in which they arrived, so that reading them takes one step instead of one for each piece.
public final class BodyStream: Sendable {
  private enum End {
    case complete
    case failed(BodyStreamError)
  }

  private struct State {
    var bytes: [UInt8] = []
    var end: End?
  }

  /// What a waiting reader gets.
  private enum Arrival {
    case bytes([UInt8], hasRoomAgain: Bool)
    case end(End)
  }

  private let state = Monitor(State())
  private let bufferBytes: Int
  private let onRoom: @Sendable () -> Void

  /// - Parameters:
  ///   - bufferBytes: the number of bytes that may wait to be read.
  ///   - onRoom: called from the reading thread when the buffer is no longer full.
  init(bufferBytes: Int, onRoom: @escaping @Sendable () -> Void) {
    self.bufferBytes = bufferBytes
    self.onRoom = onRoom
  }

  /// Reads all waiting bytes, nil at the end of the body. It waits for bytes, so never call it on an event
  /// loop. Call it from one thread at a time.
  ///
  /// - Throws: `BodyStreamError` if the body ends before it is complete.
  public func read() throws(BodyStreamError) -> [UInt8]? {
    switch arrival() {
    case .bytes(let bytes, let hasRoomAgain):
      if hasRoomAgain { onRoom() }
      return bytes
    case .end(.failed(let error)): throw error
    // Each further read returns the end again.
    case .end(.complete): return nil
    }
  }

  private func arrival() -> Arrival {
    state.wait { state in
      if !state.bytes.isEmpty {
        let bytes = state.bytes
        state.bytes = []
        return .bytes(bytes, hasRoomAgain: bytes.count >= bufferBytes)
      }
      return state.end.map(Arrival.end)
    }
  }

  /// Cancels the stream: its reader, perhaps waiting on another thread, gets what has arrived and no more.
  public func cancel() { finish(.failed(.cancelled)) }

  // MARK: The connection's side

  /// Whether the connection has to wait before it adds more.
  var isFull: Bool { state.withLock { $0.bytes.count >= bufferBytes } }

  func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    state.withLock { state in
      guard state.end == nil else { return }
      if state.bytes.isEmpty { state.bytes = bytes } else { state.bytes += bytes }
    }
    state.notify()
  }

  /// Ends the body; what has arrived can still be read.
  func end(_ end: StreamEnd) {
    append(end.rest)
    finish(end.error.map(End.failed) ?? .complete)
  }

  private func finish(_ end: End) {
    state.withLock { $0.end = $0.end ?? end }
    state.notify()
  }
}
