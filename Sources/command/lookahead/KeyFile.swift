import ArgumentParser
import Foundation

/// A file of signing keys, one a line: the first key signs, all keys verify.
enum KeyFile {
  /// The maximum number of keys.
  private static let maximumKeys = 8
  /// The minimum length of a key: 128 bits as hexadecimal digits.
  private static let leastKeyCharacters = 32

  /// The keys: the lines of the file, without white space around them and empty ones.
  ///
  /// - Parameter option: the option that names the file.
  /// - Throws: `ValidationError`.
  static func keys(in path: String, option: String) throws -> [[UInt8]] {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw ValidationError("\(option): \(path) cannot be read")
    }
    let keys = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    guard (1...maximumKeys).contains(keys.count) else {
      throw ValidationError(
        "\(option): \(path) has \(keys.count) keys; expected 1 to \(maximumKeys), one per line: "
          + "`openssl rand -hex 32` makes one")
    }
    if let key = keys.first(where: { $0.utf8.count < leastKeyCharacters }) {
      throw ValidationError(
        "\(option): a key of \(path) has \(key.utf8.count) characters; expected at "
          + "least \(leastKeyCharacters): `openssl rand -hex 32` makes one")
    }
    return keys.map { Array($0.utf8) }
  }
}
