import Glibc
import Sockets
import System

/// One end of a relayed connection: the client's, or the server's. Confined to the loop's thread.
final class RelayEnd: EventHandler {
  enum State {
    case connecting
    case open
    /// The peer is gone, or the connection was never established.
    case gone
  }

  let socket: Socket
  private let loop: EventLoop
  private var registration = Registration.none
  private var interest: Interest = []
  private(set) var state: State
  /// Whether everything was read, up to the end.
  private(set) var isRead = false
  /// Whether everything was written, up to the end.
  private(set) var isWritten = false
  /// Called when there may be bytes to read.
  var onReadable: () -> Void = {}

  /// The contents to write, in this order, and the number of bytes written of the first.
  private var output: ArraySlice<LinkFlow.Content> = []
  private var writtenOfFirst = 0

  /// Takes over the socket.
  init(_ socket: Socket, isConnecting: Bool, _ loop: EventLoop) throws(SystemError) {
    self.socket = socket
    self.loop = loop
    state = isConnecting ? .connecting : .open
    interest = isConnecting ? .writable : []
    registration = try loop.register(socket.descriptor, for: interest, self)
  }

  /// Whether the loop no longer reports events of the socket: the rest has to be read without them.
  private(set) var isHungUp = false

  func ready(for readiness: Interest) {
    if state == .connecting {
      do throws(SystemError) {
        try socket.finishConnecting()
        state = .open
      } catch {
        lose()
      }
    }
    if readiness.contains(.readable) { onReadable() }
    // A hangup is reported again and again, and cannot be excluded from the interest.
    guard !readiness.isDisjoint(with: .hangup), !isHungUp else { return }
    isHungUp = true
    loop.deregister(registration)
    loseIfDeaf()
  }

  func deadlinePassed() {}

  /// Reads the available bytes; nil if there are none at present, 0 at the end.
  func read(into buffer: inout [UInt8]) -> Int? {
    guard state == .open, !isRead else { return nil }
    do throws(SystemError) {
      guard case .done(let count) = try socket.read(into: &buffer) else { return nil }
      isRead = count == 0
      loseIfDeaf()
      return count
    } catch {
      lose()
      return nil
    }
  }

  /// Marks the peer as gone if all was read and both directions are closed, though not by us: it takes
  /// nothing.
  private func loseIfDeaf() {
    if isHungUp, isRead, !isWritten { lose() }
  }

  /// Marks the peer as gone: it takes and sends nothing any more.
  private func lose() { state = .gone }

  /// Writes as much as possible of earlier contents and of these. Returns the number of bytes that were
  /// written or dropped.
  func write(_ contents: [LinkFlow.Content]) -> Int {
    output += contents
    var bytes = 0
    while state != .connecting, let first = output.first {
      guard case .bytes(let content) = first else {
        output.removeFirst()
        finish(first)
        continue
      }
      guard state == .open else {
        bytes += content.count - writtenOfFirst
        next()
        continue
      }
      guard let count = send(content) else { break }
      bytes += count
      writtenOfFirst += count
      if writtenOfFirst == content.count { next() }
    }
    return bytes
  }

  private func next() {
    output.removeFirst()
    writtenOfFirst = 0
  }

  private func finish(_ mark: LinkFlow.Content) {
    isWritten = true
    if state == .open { try? socket.finishSending() }
    if mark == .reset { lose() }
  }

  /// The number of bytes that were taken; nil if the peer has no room. A peer that is gone takes all.
  private func send(_ content: [UInt8]) -> Int? {
    do throws(SystemError) {
      let outcome = try content.withUnsafeBufferPointer { bytes throws(SystemError) in
        let segment = iovec(
          iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress! + writtenOfFirst),
          iov_len: bytes.count - writtenOfFirst)
        return try withUnsafePointer(to: segment) { segment throws(SystemError) in
          try socket.write(UnsafeBufferPointer(start: segment, count: 1))
        }
      }
      if case .done(let count) = outcome { return count }
      return nil
    } catch {
      lose()
      return content.count - writtenOfFirst
    }
  }

  /// Watches for what it waits for: bytes to read if there is room for them, and room to write.
  func watch(forReading hasRoom: Bool) throws(SystemError) {
    guard !isHungUp else { return }
    var wanted: Interest = []
    if state == .connecting || state == .open && !output.isEmpty { wanted.insert(.writable) }
    if state == .open, hasRoom, !isRead { wanted.insert(.readable) }
    guard wanted != interest else { return }
    interest = wanted
    try loop.watch(registration, for: wanted)
  }

  func close() {
    if !isHungUp { loop.deregister(registration) }
    onReadable = {}
    socket.close()
  }
}
