import HTTP

/// How long answers may be kept by caches, RFC 9111 and RFC 5861.
struct CachePolicy: Sendable {
  /// One `Cache-Control`, which many answers share.
  final class Directive: Sendable {
    /// `nil`: never stored.
    let value: String?
    /// The field, with those of every answer that any page may read.
    let fields: Fields
    /// These and `Vary`, for each set of fields on which an answer may depend.
    private let varying: [Fields]
    /// In which field answers have the keys by which caches in front are told to forget them; nil where they
    /// have none.
    let keyField: CacheKeyField?

    static let none = Directive(nil)

    init(_ value: String?, keyField: CacheKeyField? = nil) {
      self.value = value
      self.keyField = keyField
      var fields: Fields = ["Cache-Control": value ?? "no-store"]
      fields.appendCORS()
      self.fields = fields
      varying = (0...VaryingFields.all.rawValue).map { raw in
        var fields = fields
        fields.append("Vary", VaryingFields(rawValue: raw).value)
        return fields
      }
    }

    /// The fields, and `Vary` for an answer that depends on these of the request's.
    func fields(varyingBy names: VaryingFields) -> Fields { varying[Int(names.rawValue)] }
  }

  let pages: Directive
  let documents: Directive
  /// For files that belong together, of one version of the program: revalidated each time, mostly with 304.
  let files = Directive("no-cache")

  init(maxAgeSeconds: Int, staleWhileRevalidateSeconds: Int, keyField: CacheKeyField? = nil) {
    pages = Self.directive(maxAgeSeconds, staleWhileRevalidateSeconds, keyField)
    documents = Self.directive(3600, 86_400, nil)
  }

  private static func directive(
    _ maxAge: Int, _ staleWhileRevalidate: Int, _ keyField: CacheKeyField?
  ) -> Directive {
    Directive(
      "max-age=\(maxAge), stale-while-revalidate=\(staleWhileRevalidate)", keyField: keyField)
  }
}

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
