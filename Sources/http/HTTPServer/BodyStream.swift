import HTTP
import System

/// Why a body does not go on.
public enum BodyStreamError: Error, Sendable, Hashable {
  /// The message was refused, and the client has been told why.
  case refused(ProtocolError)
  /// The connection is gone.
  case disconnected
  /// The application has no use for the rest.
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

/// A request's body as it comes, for a body policy `.stream`: the connection puts bytes in, one
/// thread of the application's takes them out.
///
/// It holds `bufferBytes` and a read more at the most: while more waits, the connection reads
/// nothing, so that a client sends no faster than the application takes. What waits is one array,
/// however small the pieces were in which it came, so that taking it costs one step and not one for
/// each piece.
public final class BodyStream: Sendable {
  private enum End {
    case complete
    case failed(BodyStreamError)
  }

  private struct State {
    var bytes: [UInt8] = []
    var end: End?
  }

  /// What a reader waits for.
  private enum Arrival {
    case bytes([UInt8], hasRoomAgain: Bool)
    case end(End)
  }

  private let state = Monitor(State())
  private let bufferBytes: Int
  private let onRoom: @Sendable () -> Void

  /// - Parameters:
  ///   - bufferBytes: how much may wait to be taken.
  ///   - onRoom: called from the reading thread when there is room again after there was none.
  init(bufferBytes: Int, onRoom: @escaping @Sendable () -> Void) {
    self.bufferBytes = bufferBytes
    self.onRoom = onRoom
  }

  /// All bytes that wait, nil at the end of the body; waits for some, so never to be called on an
  /// event loop. To be called from one thread at a time.
  ///
  /// - Throws: `BodyStreamError` where the body ends without being complete.
  public func read() throws(BodyStreamError) -> [UInt8]? {
    switch arrival() {
    case .bytes(let bytes, let hasRoomAgain):
      if hasRoomAgain { onRoom() }
      return bytes
    case .end(.failed(let error)): throw error
    // The end stays the end, however often it is asked for.
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

  /// Lets its reader, who may wait for more on another thread, have what has come, and no more.
  public func cancel() { finish(.failed(.cancelled)) }

  // MARK: The connection's side

  /// Whether enough waits.
  var isFull: Bool { state.withLock { $0.bytes.count >= bufferBytes } }

  func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    state.withLock { state in
      guard state.end == nil else { return }
      if state.bytes.isEmpty { state.bytes = bytes } else { state.bytes += bytes }
    }
    state.notify()
  }

  /// Nothing more comes; what has come can be read still.
  func end(_ end: StreamEnd) {
    append(end.rest)
    finish(end.error.map(End.failed) ?? .complete)
  }

  private func finish(_ end: End) {
    state.withLock { $0.end = $0.end ?? end }
    state.notify()
  }
}
