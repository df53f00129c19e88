import ArgumentParser
import FeedServer
import Foundation

/// The clients that may write, and their limits.
struct WriteOptions: ParsableArguments {
  @Option(
    help: "Token that writers send; without it, writes are off. Other users can see arguments.")
  var writeToken: String?

  @Option(
    help: """
      File with the token, or with lines of NAME TOKEN RIGHT…: everything, counters, media, \
      policies, changes, feed:NAME. SIGHUP reads it again.
      """)
  var writeTokenFile: String?

  mutating func validate() throws {
    if writeToken == nil, writeTokenFile == nil {
      writeToken = Environment.text("write-token")
      writeTokenFile = Environment.text("write-token-file")
    }
    if writeToken != nil, writeTokenFile != nil {
      throw ValidationError("--write-token and --write-token-file exclude each other")
    }
  }

  /// The tokens: those in the file, or the one in the option.
  ///
  /// - Throws: `ValidationError`.
  func tokens() throws -> [WriteToken] {
    guard let text = try writeTokenFile.map(Self.text) ?? writeToken else { return [] }
    if writeTokenFile == nil, text.contains(where: \.isWhitespace) {
      throw ValidationError("--write-token takes one token; use --write-token-file for several")
    }
    do throws(WriteTokenFileError) {
      return try WriteTokenFile.tokens(in: text)
    } catch {
      throw ValidationError("\(writeTokenFile ?? "--write-token"): \(error)")
    }
  }

  private static func text(ofFile path: String) throws -> String {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw ValidationError("--write-token-file: \(path) cannot be read")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
