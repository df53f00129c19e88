import ArgumentParser
import Foundation

/// Who may write, and how much.
struct WriteOptions: ParsableArguments {
  @Option(help: "The token that writers send; without one, writes are off. Others see arguments.")
  var writeToken: String?

  @Option(help: "The file that holds the token.")
  var writeTokenFile: String?

  @Option("body-bytes") var bodyBytes: Int
  @Option("import-bytes") var importBytes: Int
  @Option("maximum-imports") var maximumImports: Int
  @Option("maximum-waiting-writes") var maximumWaitingWrites: Int
  @Option("idempotency-keep-seconds") var idempotencyKeepSeconds: Int
  @Option("maximum-idempotency-keys") var maximumIdempotencyKeys: Int

  mutating func validate() throws {
    if writeToken == nil, writeTokenFile == nil {
      writeToken = Environment.text("write-token")
      writeTokenFile = Environment.text("write-token-file")
    }
    if writeToken != nil, writeTokenFile != nil {
      throw ValidationError("--write-token and --write-token-file exclude each other")
    }
  }

  /// The token: of a file, its text without the white space around it.
  ///
  /// - Throws: `ValidationError`.
  func token() throws -> String? {
    var text = writeToken
    if let writeTokenFile {
      guard let bytes = FileManager.default.contents(atPath: writeTokenFile) else {
        throw ValidationError("--write-token-file: \(writeTokenFile) cannot be read")
      }
      text = String(decoding: bytes, as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    guard let text else { return nil }
    // RFC 6750 section 2.1: b64token.
    let isToken =
      text.wholeMatch(of: /[A-Za-z0-9._~+\/-]+=*/) != nil
    guard isToken else {
      throw ValidationError(
        "the write token must be of the characters A-Z a-z 0-9 . _ ~ + / - with = at its end only")
    }
    return text
  }
}
