import Feed
import Foundation
import JSON
import Prefetch
import PrefetchClient

/// The reason why a server's networks are not known.
package enum NetworkQuestionError: Error, Hashable, Sendable {
  /// The server has no network with this name; `known` lists those that it has.
  case unknown(String, known: [String])
  /// The server's answer is unusable, for this reason.
  case noAnswer(String)
}

extension NetworkQuestionError: CustomStringConvertible {
  /// For example `the server has no network "5g"; known networks: 3g, wifi`.
  package var description: String {
    switch self {
    case .unknown(let name, let known):
      "the server has no network \"\(name)\"; known networks: \(known.joined(separator: ", "))"
    case .noAnswer(let words): "cannot read the server's networks: \(words)"
    }
  }
}

extension NetworkProfile {
  /// Loads the server's profile with this name (`/v1/networks`).
  package static func named(
    _ name: String, of server: URL, over transport: some Transport
  ) async throws(NetworkQuestionError) -> NetworkProfile {
    let list = try await NetworkList(of: server, over: transport)
    guard let profile = NetworkProfile(try list.network(named: name)) else {
      throw .noAnswer("network \"\(name)\" is incomplete")
    }
    return profile
  }

  fileprivate init?(_ value: JSONValue) {
    func number(_ name: String) -> Int? {
      value.member(name)?.wholeNumber.flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
    }
    guard let name = value.member("name")?.text, let downlink = number("downlink"),
      let uplink = number("uplink"), let roundTrip = number("rtt")
    else { return nil }
    self.init(
      name: name, title: value.member("title")?.text ?? name, downlinkKbps: downlink,
      uplinkKbps: uplink, roundTripMilliseconds: roundTrip,
      lossPercent: min(number("lossPercent") ?? 0, 100))
  }
}

/// The answer of `/v1/networks`.
private struct NetworkList {
  private let networks: [JSONValue]

  private static let answerLimitBytes = 1 << 20

  init(of server: URL, over transport: some Transport) async throws(NetworkQuestionError) {
    var body: [UInt8] = []
    let url = server.appending(path: "v1/networks")
    do throws(TransportError) {
      let answer = try await transport.answer(to: TransportRequest(url))
      guard answer.status == 200 else { throw .malformed("status \(answer.status)") }
      while body.count <= Self.answerLimitBytes, let bytes = try await answer.body.next() {
        body += bytes
      }
    } catch {
      throw .noAnswer("\(error)")
    }
    guard let list = try? JSONDocument(body).root.member("networks") else {
      throw .noAnswer("not a list of networks")
    }
    networks = Array(list.elements)
  }

  /// The network with this name.
  func network(named name: String) throws(NetworkQuestionError) -> JSONValue {
    let found = networks.first { $0.member("name")?.text?.isSame(as: name) == true }
    guard let found else {
      throw .unknown(name, known: networks.compactMap { $0.member("name")?.text })
    }
    return found
  }
}
