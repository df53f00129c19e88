import LinkModel
import Sockets
import System

/// What a link has done so far.
package struct LinkFigures: Sendable, Hashable {
  /// Bytes that arrived at the server's end.
  package var upBytes = 0
  /// Bytes that arrived at the client's end.
  package var downBytes = 0
  /// Bytes for the client that the link has taken and not sent: where these are none, the server is slower
  /// than the link.
  package var waitingDownBytes = 0
  /// Packets that were lost, and sent again.
  package var lostPackets = 0
  /// Connections that there were.
  package var acceptedConnections = 0
  /// Connections that there are.
  package var openConnections = 0
  /// The link's time.
  package var nanoseconds: UInt64 = 0
}

/// A slow network on this machine: a port of the loopback that leads to a server, with the bandwidth,
/// latency and loss of a profile or of a trace.
///
/// All connections share its bandwidth fairly, each direction for itself. A connection pays for being set
/// up, grows its window slowly and halves it at a loss, as TCP does; what is left out: heads of packets,
/// acknowledgements as traffic, name resolution, windows that shrink while nothing is sent. Buffers and
/// connections are bounded (`LinkLimits`). It runs on a thread of its own until `stop`.
package final class ShapedLink: Sendable {
  /// Where clients connect to, at `127.0.0.1`.
  package let port: UInt16
  private let loop: EventLoop
  private let relay: LinkRelay
  private let latest: Monitor<LinkFigures>
  private let hasEnded = Monitor(false)

  /// A link to the server at this port, of this machine unless a host is named; its time begins now.
  ///
  /// - Parameter seed: which packets are lost.
  /// - Throws: `SystemError` where no port can be had, or the host has no address.
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

  /// Another network from now on, for what waits, too; what is under way arrives as it would have.
  package func change(to schedule: LinkSchedule) {
    loop.execute { [relay] in relay.change(to: schedule) }
  }

  /// Lets time pass where it does so by hand; returns when all that happens meanwhile has happened. Time
  /// passes in steps, between which it takes what senders have.
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

  /// What it has done, as of the last time that anything happened.
  package var figures: LinkFigures { latest.withLock { $0 } }

  /// Waits until its figures are such; false where that takes longer.
  package func wait(
    atMostMilliseconds limit: Int, until isSuch: (LinkFigures) -> Bool
  ) -> Bool {
    latest.wait(atMostMilliseconds: limit) { isSuch($0) ? true : nil } ?? false
  }

  /// Ends all connections and its thread; once it returns, the port is closed.
  package func stop() {
    loop.execute { [relay] in relay.end() }
    loop.stop()
    _ = hasEnded.wait { $0 ? true : nil }
  }
}

/// What a link holds at most.
package struct LinkLimits: Sendable, Hashable {
  /// Connections at once; more wait until one ends.
  package var connections = 256
  /// As long as less than this waits of one connection in one direction, it is read from: 16 KB at once.
  package var sendBufferBytes = 131_072
  /// What one connection may have under way, or arrived and not taken, in one direction.
  package var receiveWindowBytes = 1_048_576
  /// Round trips before a new connection's first byte leaves: one is TCP's, a second TLS 1.3's.
  package var setUpRoundTrips = 1

  /// The usual ones.
  package init() {}
}
