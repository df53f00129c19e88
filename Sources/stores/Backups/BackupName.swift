import CivilTime

/// The name of one of a series of backups: `feed-000042-20261121T083700Z.sqlite.gz`.
///
/// The number says which backup is newer. The time, in UTC, is for a person: a clock that is set back makes
/// no backup look older than the ones before it.
package struct BackupName: Hashable, Sendable {
  /// The name of the series: the database's file name without its extension.
  package let series: String
  /// The number, which ascends within the series.
  package let number: Int
  /// The time at which the backup began, by the system's clock.
  package let time: String
  /// Whether the backup is compressed with gzip.
  package let isCompressed: Bool

  /// Creates the name of a backup that begins at this time.
  init(series: String, number: Int, secondsSince1970: Int, isCompressed: Bool) {
    self.series = series
    self.number = number
    time = Self.text(ofSecondsSince1970: secondsSince1970)
    self.isCompressed = isCompressed
  }

  /// Parses a name; nil if it is not a name of the series.
  init?(_ text: String, series: String) {
    guard text.hasPrefix(series + "-"),
      let match = text.dropFirst(series.count + 1)
        .wholeMatch(of: /([0-9]{6,12})-([0-9]{8}T[0-9]{6}Z)\.sqlite(\.gz)?/),
      let number = Int(match.output.1)
    else { return nil }
    self.series = series
    self.number = number
    time = String(match.output.2)
    isCompressed = match.output.3 != nil
  }

  /// The file's name.
  package var text: String {
    let digits = String(number)
    let padding = String(repeating: "0", count: max(0, 6 - digits.count))
    return "\(series)-\(padding)\(digits)-\(time).sqlite\(isCompressed ? ".gz" : "")"
  }

  /// Returns the series of the database at the path.
  static func series(ofDatabase path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    return String(name[..<dot])
  }

  /// Returns the series of a backup's name; nil if the text is not such a name.
  static func series(ofName text: String) -> String? {
    text.wholeMatch(of: /(.+)-[0-9]{6,12}-[0-9]{8}T[0-9]{6}Z\.sqlite(\.gz)?/).map {
      String($0.output.1)
    }
  }

  private static func text(ofSecondsSince1970 seconds: Int) -> String {
    var text: [UInt8] = []
    CivilTime(secondsSince1970: seconds).append(to: &text)
    // The basic format, without characters that file names should not have.
    text.removeAll { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
    return String(decoding: text, as: UTF8.self) + "Z"
  }
}
