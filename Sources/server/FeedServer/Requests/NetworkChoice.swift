import Feed
import HTTP
import Prefetch

/// The network profile that a request means, and by which fields of its head it meant it.
struct NetworkChoice {
  /// The parameters that choose a network.
  static let parameters = ["network", "downlink", "rtt"]

  let profile: NetworkProfile
  /// The request's fields that the choice rests on: for `Vary`.
  let varyingFields: VaryingFields
  /// The query names the network, in one way or another: links then name it by its profile.
  let isNamed: Bool

  private static let figures = 0...RecordLimits.number

  /// - Throws: `ParameterError` for a profile that there is not, and for figures beside a profile.
  init(_ parameters: Parameters, _ fields: Fields, _ networks: [NetworkProfile]) throws {
    let downlink = try parameters.number("downlink", in: Self.figures)
    let roundTrip = try parameters.number("rtt", in: Self.figures)
    let query: NetworkQuery
    if let name = parameters["network"] {
      for (figure, value) in [("downlink", downlink), ("rtt", roundTrip)] where value != nil {
        throw ParameterError(
          parameter: figure, problem: "cannot stand beside network: give one or the other")
      }
      query = .profile(name)
      (isNamed, varyingFields) = (true, [])
    } else if downlink != nil || roundTrip != nil {
      query = .measured(downlinkKbps: downlink, roundTripMilliseconds: roundTrip)
      (isNamed, varyingFields) = (true, [])
    } else {
      query = Self.query(fields)
      (isNamed, varyingFields) = (false, .network)
    }
    guard let profile = networks.profile(for: query) else {
      let names = networks.map(\.name).joined(separator: ", ")
      throw ParameterError(parameter: "network", problem: "is none of \(names)")
    }
    self.profile = profile
  }

  /// Client hints (Network Information API, section 6). A server is free to pass over hints that it
  /// cannot read, RFC 8942 section 2.2, and there is no parameter to blame.
  private static func query(_ fields: Fields) -> NetworkQuery {
    let isDecimal = fields["Downlink"]?.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 }
    let megabits = isDecimal == true ? fields["Downlink"].flatMap(Double.init) : nil
    let downlink = megabits.flatMap {
      (0...1_000_000).contains($0) ? Int($0 * 1000) : nil
    }
    let roundTrip = fields["RTT"].flatMap { Int(digits: $0) }
    if downlink != nil || roundTrip != nil {
      return .measured(
        downlinkKbps: downlink, roundTripMilliseconds: roundTrip, effectiveType: fields["ECT"])
    }
    return fields["ECT"].map(NetworkQuery.effectiveType) ?? .unknown
  }
}

/// How wide clients show files, in their own pixels. Of all widths there are few, so that clients share
/// pages: each is taken as the next larger of these.
enum DisplayWidth {
  /// Those of the ladders of `media renditions`, and what is beyond them.
  static let steps = [160, 320, 480, 640, 960, 1_280, 1_920, 2_560, 16_384]

  /// The step that is as wide.
  static func atLeast(_ pixels: Int) -> Int {
    steps.first { $0 >= pixels } ?? steps[steps.count - 1]
  }
}
