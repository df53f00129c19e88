import Logging
import Sockets
import System

/// Accepts connections for one event loop. It pauses when descriptors run out, and never ends because of
/// that.
final class Listener: EventHandler {
  /// The number of connections that are accepted before the loop handles other events.
  private static let acceptedAtOnce = 64

  /// A reference cycle until `acceptRest`: a server without references runs until it is drained.
  private let owner: ConnectionLoop
  private let socket: ListeningSocket
  private let accept: ServerContext.Accept
  private var registration: Registration?
  private var isPaused = false
  /// Whether the current pause was logged.
  private var isLogged = false

  /// Watches the socket, and owns it from then on.
  init(_ owner: ConnectionLoop, _ socket: ListeningSocket) throws(SystemError) {
    self.owner = owner
    self.socket = socket
    accept = owner.context.accept
    registration = try owner.eventLoop.register(socket.descriptor, for: .readable, self)
  }

  func ready(for readiness: Interest) {
    if !isPaused { acceptSome(Self.acceptedAtOnce) }
  }

  func deadlinePassed() { resume() }

  /// Accepts again after a pause: a descriptor has become free, or it is time to retry.
  func resume() {
    guard isPaused, let registration else { return }
    isPaused = false
    owner.eventLoop.setDeadline(registration, atMilliseconds: nil)
    try? owner.eventLoop.watch(registration, for: .readable)
  }

  /// Accepts the connections that the kernel still holds, then closes.
  func acceptRest() {
    acceptSome(.max)
    if let registration { owner.eventLoop.deregister(registration) }
    registration = nil
    socket.close()
  }

  private func acceptSome(_ limit: Int) {
    for _ in 0..<limit {
      do throws(SystemError) {
        guard case .done(let connection) = try accept(socket) else { return }
        isLogged = false
        owner.accept(connection)
      } catch {
        return pause(error)
      }
    }
  }

  private func pause(_ error: SystemError) {
    let pause = owner.context.configuration.acceptPauseMilliseconds
    if !isLogged { owner.context.logger.warning("accepting connections paused: \(error)") }
    isLogged = true
    owner.context.observer?.noted(.acceptPaused)
    guard let registration else { return }
    isPaused = true
    try? owner.eventLoop.watch(registration, for: [])
    owner.eventLoop.setDeadline(
      registration, atMilliseconds: owner.eventLoop.nowMilliseconds + UInt64(pause))
  }
}
