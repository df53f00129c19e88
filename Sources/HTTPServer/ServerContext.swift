import HTTP
import Logging
import Sockets
import Synchronization
import System

/// What all event loops of a server share.
final class ServerContext: Sendable {
  typealias Accept = @Sendable (ListeningSocket) throws(SystemError) -> Outcome<Socket>

  let configuration: ServerConfiguration
  let handler: any Handler
  let logger: Logger
  let observer: (any ServerObserver)?
  /// Connections that are served, of all event loops together.
  let connectionCount = Atomic<Int>(0)

  /// How a connection is accepted; tests let it fail.
  let accept: Accept

  init(
    _ configuration: ServerConfiguration, _ handler: any Handler, _ logger: Logger,
    observer: (any ServerObserver)? = nil,
    accept: @escaping Accept = { socket throws(SystemError) in try socket.accept() }
  ) {
    self.configuration = configuration
    self.handler = handler
    self.logger = logger
    self.observer = observer
    self.accept = accept
  }

  /// Takes one of the places for connections; false if all are taken.
  func admit() -> Bool {
    let (_, count) = connectionCount.add(1, ordering: .relaxed)
    if count <= configuration.maximumConnections { return true }
    release()
    return false
  }

  /// Gives a place back.
  func release() {
    connectionCount.subtract(1, ordering: .relaxed)
  }
}
