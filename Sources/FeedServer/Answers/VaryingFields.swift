/// The request's fields that an answer depends on, beside `Accept-Encoding`.
struct VaryingFields: OptionSet, Sendable {
  let rawValue: UInt8

  /// What says which network the client has.
  static let network = VaryingFields(rawValue: 1)
  /// Whether the person saves data.
  static let savesData = VaryingFields(rawValue: 2)

  /// Which types the client takes.
  static let types = VaryingFields(rawValue: 4)

  static let all: VaryingFields = [.network, .savesData, .types]

  /// The value of `Vary` (RFC 9110 section 12.5.5).
  var value: String {
    switch self {
    case [.network, .savesData]: "Accept-Encoding, ECT, Downlink, RTT, Save-Data"
    case .network: "Accept-Encoding, ECT, Downlink, RTT"
    case .types: "Accept-Encoding, Accept"
    case .savesData: "Accept-Encoding, Save-Data"
    default: "Accept-Encoding"
    }
  }
}
