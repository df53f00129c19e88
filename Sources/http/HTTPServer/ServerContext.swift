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

  private let prefix: [UInt8]
  private var count: UInt64 = 0

  init() {
    prefix = (0..<8).map { _ in Self.digits[Int.random(in: 0..<32)] }
  }

  mutating func next() -> String {
    count += 1
    var number = count
    var width = 0
    while number > 0 {
      number /= 36
      width += 1
    }
    number = count
    return String(unsafeUninitializedCapacity: prefix.count + width) { bytes in
      // All bytes up to the returned count are written: the prefix, then the digits.
      for index in prefix.indices { bytes[index] = prefix[index] }
      for index in (0..<width).reversed() {
        bytes[prefix.count + index] = Self.digits[Int(number % 36)]
        number /= 36
      }
      return prefix.count + width
    }
  }
}
