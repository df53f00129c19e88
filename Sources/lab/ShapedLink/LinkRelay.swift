import LinkModel
import Sockets
import System

/// The thin shell around two `LinkPath`s. It accepts connections, makes one to the server for each, carries
/// bytes between sockets and paths, and wakes when a path has an event.
///
/// `@unchecked Sendable`: created before its loop runs, and from then on confined to the loop's thread.
final class LinkRelay: EventHandler, @unchecked Sendable {
  private struct Connection {
    let id: Int
    let client: RelayEnd
    let server: RelayEnd
    /// The last mark that was put into each direction.
    var marks: [LinkWay: LinkFlow.Content] = [:]
  }

  /// The minimum sleep: less would keep a core busy. Events meanwhile still happen at their own time.
  private static let shortestWaitNanoseconds: UInt64 = 200_000

  private let loop: EventLoop
  private let listening: ListeningSocket
  private let server: SocketAddress
  private let limits: LinkLimits
  private let timer: PreciseTimer
  private var clock: LinkClock
  private var paths: [LinkWay: LinkPath] = [:]
  private var connections: [Connection] = []
  private var accepted = 0
  private var listener = Registration.none
  private var timerRegistration = Registration.none
  private var isAccepting = false
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  private let figures: Monitor<LinkFigures>

  init(
    _ loop: EventLoop, _ listening: ListeningSocket, to server: SocketAddress,
    _ schedule: LinkSchedule, _ limits: LinkLimits, _ pace: LinkPace, seed: UInt64,
    _ figures: Monitor<LinkFigures>
  ) throws(SystemError) {
    self.loop = loop
    self.listening = listening
    self.server = server
    self.limits = limits
    self.figures = figures
    clock = LinkClock(pace)
    timer = try PreciseTimer()
    paths[.up] = LinkPath(.up, schedule, limits: limits, seed: seed)
    paths[.down] = LinkPath(.down, schedule, limits: limits, seed: ~seed)
  }

  func start() throws(SystemError) {
    listener = try loop.register(listening.descriptor, for: .readable, self)
    isAccepting = true
    timerRegistration = try loop.register(timer.descriptor, for: .readable, WakeUp())
    loop.turnEnded = { [weak self] in self?.turn() }
  }

  /// Ends all connections and stops listening.
  func end() {
    loop.turnEnded = {}
    for connection in connections {
      connection.client.close()
      connection.server.close()
    }
    connections = []
    loop.deregister(listener)
    loop.deregister(timerRegistration)
    listening.close()
    timer.close()
  }

  func change(to schedule: LinkSchedule) {
    for way in LinkWay.allCases {
      paths[way]!.change(to: schedule, atNanoseconds: clock.nanoseconds)
    }
  }

  func pass(nanoseconds: UInt64) {
    clock.pass(nanoseconds: nanoseconds)
    turn()
  }

  // MARK: Connections

  func ready(for readiness: Interest) {
    while connections.count < limits.connections {
      guard case .done(let client)? = try? listening.accept() else { break }
      relay(client)
    }
  }

  func deadlinePassed() {}

  private func relay(_ client: Socket) {
    do throws(SystemError) {
      try client.disableDelay()
      let server = try Socket(connectingTo: server)
      do throws(SystemError) {
        try server.disableDelay()
        let clientEnd = try RelayEnd(client, isConnecting: false, loop)
        let serverEnd: RelayEnd
        do throws(SystemError) {
          serverEnd = try RelayEnd(server, isConnecting: true, loop)
        } catch {
          clientEnd.close()
          server.close()
          return
        }
        let id = accepted
        accepted += 1
        for way in LinkWay.allCases { paths[way]!.open(id, atNanoseconds: clock.nanoseconds) }
        clientEnd.onReadable = { [weak self] in self?.read(id, .up) }
        serverEnd.onReadable = { [weak self] in self?.read(id, .down) }
        connections.append(Connection(id: id, client: clientEnd, server: serverEnd))
      } catch {
        server.close()
        throw error
      }
    } catch {
      client.close()
    }
  }

  private func read(_ id: Int, _ way: LinkWay) {
    guard let index = connections.firstIndex(where: { $0.id == id }) else { return }
    take(index, way)
  }

  /// Takes the bytes of this direction's sender while there is room, and its end.
  private func take(_ index: Int, _ way: LinkWay) {
    let connection = connections[index]
    let sender = way == .up ? connection.client : connection.server
    while paths[way]!.roomBytes(connection.id) > 0 {
      guard let count = sender.read(into: &buffer), count > 0 else { break }
      paths[way]!.put(buffer[..<count], into: connection.id, atNanoseconds: clock.nanoseconds)
    }
    let mark: LinkFlow.Content
    if sender.state == .gone {
      mark = .reset
    } else if sender.isRead {
      mark = .end
    } else {
      return
    }
    guard connection.marks[way] != mark else { return }
    connections[index].marks[way] = mark
    paths[way]!.finish(connection.id, mark, atNanoseconds: clock.nanoseconds)
  }

  // MARK: Turns

  /// Advances both directions to now, hands over what arrived, and sets the timer for the next event.
  private func turn() {
    let now = clock.nanoseconds
    for way in LinkWay.allCases { paths[way]!.advance(toNanoseconds: now) }
    for index in connections.indices.reversed() { serve(index) }
    if isAccepting != (connections.count < limits.connections) {
      isAccepting.toggle()
      try? loop.watch(listener, for: isAccepting ? .readable : [])
    }
    let next = LinkWay.allCases.compactMap { paths[$0]!.nextNanoseconds }.min()
    let moment = next.flatMap { clock.moment(of: $0) }
    let earliest = MonotonicClock.nanoseconds + Self.shortestWaitNanoseconds
    try? timer.set(toNanoseconds: moment.map { max($0, earliest) })
    tell()
  }

  private func serve(_ index: Int) {
    let connection = connections[index]
    for way in LinkWay.allCases {
      let receiver = way == .up ? connection.server : connection.client
      let bytes = receiver.write(paths[way]!.takeArrived(connection.id))
      paths[way]!.read(bytes, from: connection.id)
      let sender = way == .up ? connection.client : connection.server
      if sender.isHungUp || sender.state == .gone { take(index, way) }
    }
    do throws(SystemError) {
      try connection.client.watch(forReading: paths[.up]!.roomBytes(connection.id) > 0)
      try connection.server.watch(forReading: paths[.down]!.roomBytes(connection.id) > 0)
    } catch {
      close(index)
      return
    }
    let ends = [connection.client, connection.server]
    // Both have been told the end, or one is gone and the other knows.
    if ends.allSatisfy(\.isWritten) || ends.contains(where: { $0.isWritten && $0.state == .gone }) {
      close(index)
    }
  }

  private func close(_ index: Int) {
    let connection = connections.remove(at: index)
    connection.client.close()
    connection.server.close()
    for way in LinkWay.allCases { paths[way]!.close(connection.id) }
  }

  private func tell() {
    let now = LinkFigures(
      upBytes: paths[.up]!.deliveredBytes, downBytes: paths[.down]!.deliveredBytes,
      waitingDownBytes: paths[.down]!.waitingBytes,
      lostPackets: paths[.up]!.lostPackets + paths[.down]!.lostPackets,
      acceptedConnections: accepted, openConnections: connections.count,
      nanoseconds: paths[.down]!.timeNanoseconds)
    figures.withLock { $0 = now }
    figures.notify()
  }
}

/// Handles the timer, which needs nothing: the turn that it causes sets it again.
private final class WakeUp: EventHandler {
  func ready(for readiness: Interest) {}
  func deadlinePassed() {}
}
