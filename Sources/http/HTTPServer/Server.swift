import HTTP
import Logging
import Sockets
import Synchronization
import System

/// An HTTP/1.1 server: event loops that serve one port.
public final class Server: Sendable {
  private struct State {
    var loops: [ConnectionLoop] = []
    var isDraining = false
  }

  private let context: ServerContext
  private let state = Mutex(State())
  /// The number of event loops that run.
  private let running = Monitor(0)

  /// A server that does not listen yet.
  public convenience init(
    configuration: ServerConfiguration, handler: any Handler, logger: Logger,
    observer: (any ServerObserver)? = nil
  ) {
    self.init(ServerContext(configuration, handler, logger, observer: observer))
  }

  init(_ context: ServerContext) { self.context = context }

  /// Listens and serves; returns the port, which the system chooses if 0 was requested.
  ///
  /// The server runs until it is drained, even without references. This ignores SIGPIPE and raises the limit
  /// of descriptors, both in the whole process. Call it once.
  public func start() throws(SystemError) -> UInt16 {
    let configuration = context.configuration
    Signals.ignoreBrokenPipe()
    let descriptors = DescriptorLimit.raise()
    if descriptors < configuration.maximumConnections {
      context.logger.warning(
        "fewer descriptors than connections",
        metadata: [
          "descriptors": .stringConvertible(descriptors),
          "maximumConnections": .stringConvertible(configuration.maximumConnections),
        ])
    }
    let sockets = try ListeningSocket.open(
      host: configuration.host, port: configuration.port, count: configuration.eventLoops,
      backlog: configuration.listenBacklog, sharesPort: configuration.sharesPort)
    var loops: [ConnectionLoop] = []
    do throws(SystemError) {
      for _ in sockets { loops.append(try ConnectionLoop(context)) }
      for loop in loops {
        running.withLock { $0 += 1 }
        let ended: EventLoop.Work = { [running] in
          running.withLock { $0 -= 1 }
          running.notify()
        }
        do throws(SystemError) {
          try loop.eventLoop.start(ended: ended)
        } catch {
          ended()
          throw error
        }
      }
    } catch {
      for loop in loops { loop.eventLoop.stop() }
      for socket in sockets { socket.close() }
      throw error
    }
    state.withLock { $0.loops = loops }
    for (loop, socket) in zip(loops, sockets) {
      loop.eventLoop.execute { loop.listen(on: socket) }
    }
    let port = sockets[0].address.port
    context.logger.info(
      "listening",
      metadata: [
        "host": "\(configuration.host)", "port": .stringConvertible(port),
        "eventLoops": .stringConvertible(loops.count),
      ])
    return port
  }

  /// Whether a drain was requested.
  public var isDraining: Bool { state.withLock { $0.isDraining } }

  /// The number of connections that are being served.
  public var connectionCount: Int { context.connectionCount.load(ordering: .relaxed) }

  /// Ends the server without losing a request. Returns at once; may be called from any thread, any number of
  /// times.
  ///
  /// For `graceMilliseconds` the server continues, so that a balancer can notice that it is no longer ready.
  /// Then it accepts nothing more, closes idle connections, and finishes requests in flight with
  /// `Connection: close`; after `drainTimeoutMilliseconds` it cuts the connections that are left.
  public func drain(graceMilliseconds: Int = 0) {
    let loops = state.withLock { state in
      defer { state.isDraining = true }
      return state.isDraining ? [] : state.loops
    }
    guard !loops.isEmpty else { return }
    context.logger.info("draining", metadata: ["connections": .stringConvertible(connectionCount)])
    for loop in loops {
      loop.eventLoop.execute { loop.drain(graceMilliseconds: graceMilliseconds) }
    }
  }

  /// Waits until all event loops have ended, which a drain causes.
  public func wait() { running.wait { $0 == 0 ? () : nil } }
}
