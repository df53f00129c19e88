import LinkModel
import Sockets
import System

/// The figures of a link so far.
package struct LinkFigures: Sendable, Hashable {
  /// The number of bytes that arrived at the server's end.
  package var upBytes = 0
  /// The number of bytes that arrived at the client's end.
  package var downBytes = 0
  /// The number of bytes for the client that the link has taken and not sent. If there are none, the server
  /// is slower than the link.
  package var waitingDownBytes = 0
  /// The number of packets that were lost, and sent again.
  package var lostPackets = 0
  /// The number of connections accepted so far.
  package var acceptedConnections = 0
  /// The number of open connections.
  package var openConnections = 0
  /// The link's time in nanoseconds.
  package var nanoseconds: UInt64 = 0
}

/// A slow network on this machine: a port of the loopback that leads to a server, with the bandwidth, latency
/// and loss of a profile or of a trace.
///
/// All connections share its bandwidth fairly, in each direction separately. As in TCP, a connection pays for
/// its setup, grows its window slowly, and halves it at a loss. The link does not model packet headers, the
/// traffic of acknowledgements, name resolution, and windows that shrink while idle. Buffers and connections
/// are bounded (`LinkLimits`). It runs on a thread of its own until `stop`.
package final class ShapedLink: Sendable {
  /// The port at `127.0.0.1` for clients.
  package let port: UInt16
  private let loop: EventLoop
  private let relay: LinkRelay
  private let latest: Monitor<LinkFigures>
  private let hasEnded = Monitor(false)

  /// Creates a link to the server at this port, on this machine unless a host is named. Its time begins now.
  ///
  /// - Parameter seed: the seed that decides which packets are lost.
  /// - Throws: `SystemError` if no port is available, or the host has no address.
  package init(
    toPort serverPort: UInt16, host: String = "127.0.0.1", _ schedule: LinkSchedule,
    limits: LinkLimits = LinkLimits(), pace: LinkPace = .realTime(), seed: UInt64 = 1
  ) throws(SystemError) {
    let server = try SocketAddress(host: host, port: serverPort)
    loop = try EventLoop()
    let listening = try ListeningSocket.open(host: "127.0.0.1", port: 0, count: 1, backlog: 64)[0]
    port = listening.address.port
    latest = Monitor(LinkFigures())
    do throws(SystemError) {
      relay = try LinkRelay(
        loop, listening, to: server, schedule, limits, pace, seed: seed, latest)
      try relay.start()
      let hasEnded = hasEnded
      try loop.start {
        hasEnded.withLock { $0 = true }
        hasEnded.notify()
      }
    } catch {
      listening.close()
      throw error
    }
  }

  deinit { stop() }

  /// Changes the network from now on, also for waiting bytes. Bytes in flight arrive as they would have.
  package func change(to schedule: LinkSchedule) {
    loop.execute { [relay] in relay.change(to: schedule) }
  }

  /// Lets time pass by hand, and returns when everything that happens meanwhile has happened. Time passes in
  /// steps, between which the link takes the bytes of senders.
  package func pass(milliseconds: Int) {
    var left = milliseconds
    while left > 0 {
      let step = min(left, 10)
      left -= step
      let isDone = Monitor(false)
      loop.execute { [relay] in
        relay.pass(nanoseconds: UInt64(step) * 1_000_000)
        isDone.withLock { $0 = true }
        isDone.notify()
      }
      while isDone.wait(atMostMilliseconds: 100, until: { $0 ? true : nil }) == nil {
        if hasEnded.withLock({ $0 }) { return }
      }
    }
  }

  /// The figures as of the last event.
  package var figures: LinkFigures { latest.withLock { $0 } }

  /// Waits until the figures satisfy a condition; false if that takes longer.
  package func wait(
    atMostMilliseconds limit: Int, until isSuch: (LinkFigures) -> Bool
  ) -> Bool {
    latest.wait(atMostMilliseconds: limit) { isSuch($0) ? true : nil } ?? false
  }

  /// Ends all connections and the link's thread. When it returns, the port is closed.
  package func stop() {
    loop.execute { [relay] in relay.end() }
    loop.stop()
    _ = hasEnded.wait { $0 ? true : nil }
  }
}

/// Limits of a link.
package struct LinkLimits: Sendable, Hashable {
  /// The maximum number of connections at once; more wait until one ends.
  package var connections = 256
  /// The number of waiting bytes of one connection in one direction below which the link reads on, 16 KB at
  /// once.
  package var sendBufferBytes = 131_072
  /// The maximum number of bytes of one connection in one direction in flight, or arrived and not taken.
  package var receiveWindowBytes = 1_048_576
  /// The number of round trips before a new connection's first byte leaves: one is TCP's, a second TLS 1.3's.
  package var setUpRoundTrips = 1

  /// Creates the default limits.
  package init() {}
}
