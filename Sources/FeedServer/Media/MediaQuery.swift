/// What the URL of a media file says beside its path.
struct MediaQuery {
  static let parameters = ["version", "expires", "signature"]

  /// The content that it is the URL of; nil for whatever lies there.
  let version: ContentAddress?
  /// The second since 1970 from which on it does not hold.
  let expires: Int?
  let signature: String?

  private static let seconds = 0...(1 << 53)

  /// - Throws: `ParameterError`.
  init(_ parameters: Parameters) throws(ParameterError) {
    version = try parameters["version"].map { text throws(ParameterError) in
      guard let version = ContentAddress(text: text) else {
        throw ParameterError(
          parameter: "version",
          problem: "is not 32 hexadecimal digits in lower case: \"\(text.prefix(40))\"")
      }
      return version
    }
    expires = try parameters.number("expires", in: Self.seconds)
    signature = parameters["signature"]
  }
}
