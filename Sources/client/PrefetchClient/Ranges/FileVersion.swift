import Feed

/// Which version of a file bytes are of: as long as it is the same, bytes of several answers are those of one
/// file. Both validators are strong ones (RFC 9110 section 8.8): a weak one says nothing of bytes.
public struct FileVersion: Hashable, Sendable {
  /// What tells it from other versions.
  public enum Validator: Hashable, Sendable {
    /// A strong entity tag, with its quotation marks.
    case entityTag(String)
    /// A time of change, as the server writes it.
    case modified(String)
  }

  /// What tells it from other versions.
  public let validator: Validator
  /// How many bytes the whole file has.
  public let bytes: Int

  /// A version of this many bytes.
  public init(validator: Validator, bytes: Int) {
    self.validator = validator
    self.bytes = bytes
  }

  /// The value of `If-Range` (RFC 9110 section 13.1.5).
  var ifRange: String {
    switch validator {
    case .entityTag(let text), .modified(let text): text
    }
  }
}

extension FileVersion.Validator {
  /// How many bytes of UTF-8 a validator has at the most.
  static let textBytes = 1_024

  /// The strong validator of an answer; `nil` where it has none.
  ///
  /// A time of change is one where it lies a second or more before the time of the answer (RFC 9110 section
  /// 8.8.2.2): in the second in which a file changes it may change again.
  package init?(_ fields: TransportFields) {
    if let tag = fields["etag"], !tag.hasPrefix("W/"), tag.utf8.count >= 2, tag.hasPrefix("\""),
      tag.hasSuffix("\""), tag.utf8.count <= Self.textBytes
    {
      self = .entityTag(tag)
      return
    }
    guard let modified = fields["last-modified"], let changed = Timestamp(httpDate: modified),
      let answered = fields["date"].flatMap(Timestamp.init(httpDate:)),
      answered.microseconds - changed.microseconds >= 1_000_000
    else { return nil }
    self = .modified(modified)
  }
}

extension Timestamp {
  /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7); the obsolete forms, which no server sends any
  /// more, are `nil`, as everything else is.
  init?(httpDate text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2]))
    else { return nil }
    let digits = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    guard let time = try? Timestamp(rfc3339: "\(words[3])-\(digits)-\(words[1])T\(words[4])Z")
    else { return nil }
    self = time
  }
}
