import Feed

/// The version of a file. Bytes of several answers belong to one file if their version is the same. Both
/// validators are strong (RFC 9110 section 8.8): a weak one says nothing about bytes.
public struct FileVersion: Hashable, Sendable {
  /// A validator, which distinguishes versions.
  public enum Validator: Hashable, Sendable {
    /// A strong entity tag, with its quotation marks.
    case entityTag(String)
    /// A modification time, as the server writes it.
    case modified(String)
  }

  /// The validator of this version.
  public let validator: Validator
  /// The size of the whole file in bytes.
  public let bytes: Int

  /// Creates a version.
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
  /// The maximum size of an entity tag in bytes.
  static let textBytes = 1_024

  /// The strong validator of an answer; `nil` if it has none.
  ///
  /// A modification time is strong if it is at least a second before the time of the answer (RFC 9110 section
  /// 8.8.2.2): within the second of a change, the file may change again.
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
  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7). All else is `nil`, also the obsolete
  /// forms, which servers no longer send.
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
