import Observability
import System

/// Threads for requests that take longer than an event loop may wait. Those that wait take turns by what they ask for
/// and by client, so that none waits for all that another one asks.
struct RequestWorkers: Sendable {
  /// What takes turns with what.
  private enum Kind: Int, CaseIterable {
    case page, document, plan, other

    init(_ route: Route?) {
      switch route {
      case .compactPage, .page: self = .page
      case .jsonFeed, .rss: self = .document
      case .plan: self = .plan
      default: self = .other
      }
    }
  }

  private let pool: WorkerPool
  private let clients: ClientAddresses

  /// - Parameters:
  ///   - threads: how many requests are worked on at once, beside one of each kind of which there is no other.
  ///   - limit: how many are worked on or wait.
  init(threads: Int, limit: Int, clients: ClientAddresses) {
    pool = WorkerPool(threads: threads, limit: limit, kinds: Kind.allCases.count)
    self.clients = clients
  }

  /// Does the work for the call when it is its turn; `false` where too much waits already.
  func run(for call: Call, _ work: @escaping WorkerPool.Work) -> Bool {
    let address = clients.address(call.request.fields, peer: call.responder.peer)
    // Where two clients have the same hash, they share their turns.
    return pool.run(
      Turn(kind: Kind(call.route).rawValue, client: address?.client.hashValue ?? 0), work)
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_workers", help: "Requests that workers have, running or waiting."
    ) { [pool] in pool.count }
  }
}
