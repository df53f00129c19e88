import HTTP
import Logging
import Sockets
import Synchronization
import System

/// The state that all event loops of a server share.
final class ServerContext: Sendable {
  typealias Accept = @Sendable (ListeningSocket) throws(SystemError) -> Outcome<Socket>

  let configuration: ServerConfiguration
  let handler: any Handler
  let logger: Logger
  let observer: (any ServerObserver)?
  /// The number of connections that are being served, by all event loops together.
  let connectionCount = Atomic<Int>(0)

  /// Accepts a connection; tests replace it by one that fails.
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

  /// Takes a place for a connection; false if all are taken.
  func admit() -> Bool {
    let (_, count) = connectionCount.add(1, ordering: .relaxed)
    if count <= configuration.maximumConnections { return true }
    release()
    return false
  }

  /// Releases a place.
  func release() {
    connectionCount.subtract(1, ordering: .relaxed)
  }
}

/// Makes request ids: a random prefix for each event loop, then a counter. The first 78 billion have at most
/// fifteen characters, which a `String` holds without an allocation.
struct RequestIDGenerator {
  private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
  private static let prefixBytes = 8

  /// The prefix, and the digits of the counter in base 36.
  private var text: [UInt8]

  init() {
    text = (0..<Self.prefixBytes).map { _ in Self.digits[Int.random(in: 0..<32)] }
  }

  mutating func next() -> String {
    increment()
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func increment() {
    for place in text.indices.dropFirst(Self.prefixBytes).reversed() {
      switch text[place] {
      case UInt8(ascii: "z"): text[place] = UInt8(ascii: "0")
      case UInt8(ascii: "9"): return text[place] = UInt8(ascii: "a")
      default: return text[place] += 1
      }
    }
    text.insert(UInt8(ascii: "1"), at: Self.prefixBytes)
  }
}
