import Dispatch
import HTTP
import Synchronization

/// Why a body does not go on.
public enum BodyStreamError: Error, Sendable, Hashable {
  /// The message was refused, and the client has been told why.
  case refused(ProtocolError)
  /// The connection is gone.
  case disconnected
}

extension BodyStreamError: CustomStringConvertible {
  /// What happened to the body.
  public var description: String {
    switch self {
    case .refused(let error): error.description
    case .disconnected: "The connection ended within the body."
    }
  }
}

/// A request's body as it comes, for a body policy `.stream`: the connection puts bytes in, one
/// thread of the application's takes them out.
///
/// It holds `bufferBytes` and a read more at the most: while more waits, the connection reads
/// nothing, so that a client sends no faster than the application takes.
public final class BodyStream: Sendable {
  private enum End {
    case complete
    case failed(BodyStreamError)
  }

  private struct State {
    var chunks: [[UInt8]] = []
    var bytes = 0
    var end: End?
  }

  private let state = Mutex(State())
  /// Raised once for each chunk and for the end.
  private let arrivals = DispatchSemaphore(value: 0)
  private let bufferBytes: Int
  private let onRoom: @Sendable () -> Void

  /// - Parameters:
  ///   - bufferBytes: how much may wait to be taken.
  ///   - onRoom: called from the reading thread when there is room again after there was none.
  init(bufferBytes: Int, onRoom: @escaping @Sendable () -> Void) {
    self.bufferBytes = bufferBytes
    self.onRoom = onRoom
  }

  /// The next bytes, nil at the end of the body; waits for them, so never to be called on an event
  /// loop. To be called from one thread at a time.
  ///
  /// - Throws: `BodyStreamError` where the body ends without being complete.
  public func read() throws(BodyStreamError) -> [UInt8]? {
    arrivals.wait()
    let (chunk, end, hasRoomAgain) = state.withLock { state in
      guard !state.chunks.isEmpty else { return ([UInt8]?.none, state.end, false) }
      let wasFull = state.bytes >= bufferBytes
      let chunk = state.chunks.removeFirst()
      state.bytes -= chunk.count
      return (chunk, nil, wasFull && state.bytes < bufferBytes)
    }
    if hasRoomAgain { onRoom() }
    if let chunk { return chunk }
    // The end stays the end, however often it is asked for.
    arrivals.signal()
    if case .failed(let error) = end { throw error }
    return nil
  }

  // MARK: The connection's side

  /// Whether enough waits.
  var isFull: Bool { state.withLock { $0.bytes >= bufferBytes } }

  func append(_ chunk: [UInt8]) {
    let isTaken = state.withLock { state in
      guard state.end == nil else { return false }
      state.chunks.append(chunk)
      state.bytes += chunk.count
      return true
    }
    if isTaken { arrivals.signal() }
  }

  /// The body is complete.
  func finish() { end(.complete) }

  /// The body will not be complete; what has come of it can be read still.
  func fail(_ error: BodyStreamError) { end(.failed(error)) }

  private func end(_ end: End) {
    let isFirst = state.withLock { state in
      defer { state.end = state.end ?? end }
      return state.end == nil
    }
    if isFirst { arrivals.signal() }
  }
}
