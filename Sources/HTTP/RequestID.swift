/// The rule for the `X-Request-Id` that a client may choose.
public enum RequestID {
  /// The longest that is taken over.
  public static let maximumLength = 128

  /// Whether a client's id is well formed: 1 to 128 of `A-Z a-z 0-9 . _ ~ + / = @ -`.
  ///
  /// Anything else is replaced by the server's own, so that an id can be logged and echoed as it
  /// is, and is a URI reference (RFC 3986 section 4.1: hence no colon) where a problem document
  /// wants one (RFC 9457 section 3.1.5).
  public static func isWellFormed(_ id: some StringProtocol) -> Bool {
    let bytes = id.utf8
    guard !bytes.isEmpty, bytes.count <= maximumLength else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"): true
      case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "@"): true
      case UInt8(ascii: "-"): true
      default: false
      }
    }
  }
}
