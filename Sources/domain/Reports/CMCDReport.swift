import Feed

/// A line of CMCD, version 2, in event mode: the report of a player that supports CMCD (CTA-5004-B;
/// structured fields of RFC 9651 in one line, pairs of key and value separated by commas).
///
/// Ignores unknown keys, as the standard requires. docs/reports.md lists the keys and their use.
public struct CMCDReport: Hashable, Sendable {
  /// A value of a key.
  enum Value: Hashable, Sendable {
    case number(Double)
    case text(String)
    case token(String)
    case flag(Bool)
    /// An inner list; its parameters are ignored.
    case list([Value])

    /// The greatest nonnegative number in the value.
    var number: Double? {
      switch self {
      case .number(let number) where number >= 0: number
      case .list(let values): values.compactMap(\.number).max()
      default: nil
      }
    }

    var text: String? {
      switch self {
      case .text(let text), .token(let text): text
      default: nil
      }
    }
  }

  private let values: [ByteText: Value]
  /// The line itself, in UTF-8.
  public let line: [UInt8]

  /// The maximum time that decoders take on real devices, in milliseconds: a longer start was a wait for
  /// bytes.
  public static let decoderMilliseconds = 500.0
  /// Our own key for the bytes that were loaded since the previous report.
  public static let loadedKey = "io.lookahead-loaded"
  /// Our own key for those of these bytes that were never seen.
  public static let unseenKey = "io.lookahead-unseen"
  /// Our own key for the token that a page issued (`Report-Token`).
  public static let tokenKey = "io.lookahead-token"
  /// The maximum number of lines of a body.
  public static let lines = 1_000
  /// The maximum number of keys of a line.
  static let keys = 100
  /// The maximum length of a session's id, in bytes: the standard allows 64 characters.
  private static let sessionBytes = 256

  /// Parses the lines of a body; ignores empty ones.
  ///
  /// - Throws: `RecordError`, which names the line and the key.
  public static func reports(in body: [UInt8]) throws(RecordError) -> [CMCDReport] {
    var reports: [CMCDReport] = []
    var number = 0
    for line in body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      var line = line
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty { continue }
      guard reports.count < lines else {
        throw RecordError(field: "line \(number)", problem: "exceeds the limit of \(lines) lines")
      }
      reports.append(try CMCDReport(Array(line), number: number))
    }
    guard !reports.isEmpty else { throw RecordError(field: "", problem: "has no line") }
    return reports
  }

  private init(_ line: [UInt8], number: Int) throws(RecordError) {
    var parser = CMCDParser(line)
    do throws(CMCDParser.Malformed) {
      values = try parser.values()
    } catch {
      throw RecordError(field: "line \(number)", problem: error.description)
    }
    self.line = line
    func problem(_ key: String, _ words: String) -> RecordError {
      RecordError(field: "line \(number): \(key)", problem: words)
    }
    if let version = values["v"], version != .number(2) {
      throw problem("v", "is not 2, the version with event mode")
    }
    guard let session = values["sid"]?.text, !session.isEmpty else {
      throw problem("sid", "is missing: without it, a repeated report counts twice")
    }
    guard session.utf8.count <= Self.sessionBytes else {
      throw problem("sid", "has \(session.utf8.count) bytes, more than \(Self.sessionBytes)")
    }
    guard values["e"]?.text != nil else { throw problem("e", "is missing") }
    for key in ["ts", "sn", "msd", "bsd", "mtp", Self.loadedKey, Self.unseenKey] {
      guard let value = values[key] else { continue }
      guard let number = value.number, number <= Double(RecordLimits.number) else {
        throw problem(key, "is not a number from 0 to \(RecordLimits.number)")
      }
    }
    let (loaded, unseen) = (self.number(Self.loadedKey) ?? 0, self.number(Self.unseenKey) ?? 0)
    if loaded > Double(ReportLimits.bytes) {
      throw problem(Self.loadedKey, "is more than \(ReportLimits.bytes)")
    }
    if unseen > loaded { throw problem(Self.unseenKey, "is more than the loaded bytes") }
    for (key, most) in [
      ("msd", ReportLimits.sessionMilliseconds), ("bsd", ReportLimits.sessionMilliseconds),
    ] where self.number(key) ?? 0 > Double(most) {
      throw problem(key, "is longer than a day")
    }
  }

  private func number(_ key: String) -> Double? { values[key]?.number }

  /// The player's id of its session.
  public var session: String { values["sid"]?.text ?? "" }
  /// The token that a page issued for reports.
  public var token: String? { values[Self.tokenKey]?.text }
  /// The number of the report in its session; `nil` if the player does not send it.
  public var sequenceNumber: Int? { number("sn").map { Int($0) } }
  /// The time of the event by the player's clock, in milliseconds since 1970.
  public var time: Int? { number("ts").map { Int($0) } }

  /// The report as a part of a session.
  ///
  /// - A start (`msd`) is an item, and its delay a first frame; a delay longer than a decoder takes is a
  ///   loader.
  /// - A starvation that has ended (`bsd`) is a stall. `bs` reports the same event and is not counted.
  /// - A response (`rr`) is a request.
  public var part: ReportPart {
    var part = ReportPart(session: session, part: sequenceNumber ?? 0)
    if sequenceNumber == nil, values["sta"] != .token("s") { part.part = 1 }
    part.downlinkKbps = number("mtp").map { Int($0) }
    var figures = ReportFigures()
    if let delay = number("msd") {
      figures.items = 1
      figures.frames.add(milliseconds: delay)
      if delay > Self.decoderMilliseconds {
        figures.loaders[.video] = 1
        figures.waits.add(milliseconds: delay)
      }
    }
    if let stalled = number("bsd") {
      figures.stalls = 1
      figures.stalledMilliseconds = Int(stalled)
    }
    if values["e"]?.text == "rr" { figures.requests = 1 }
    let (loaded, unseen) = (number(Self.loadedKey) ?? 0, number(Self.unseenKey) ?? 0)
    figures.bytes[.seen] = Int(loaded) - Int(unseen)
    figures.bytes[.neverReached] = Int(unseen)
    part.figures = figures
    return part
  }
}

/// A parser of a line's keys and values.
private struct CMCDParser {
  /// A syntax error in a line, and its column.
  struct Malformed: Error, CustomStringConvertible {
    let column: Int
    let problem: String

    var description: String { "\(problem) at column \(column)" }
  }

  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private func malformed(_ problem: String) -> Malformed {
    Malformed(column: index + 1, problem: problem)
  }

  private mutating func skipSpaces() {
    while byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { index += 1 }
  }

  private mutating func skip(_ wanted: Unicode.Scalar) -> Bool {
    guard byte == UInt8(ascii: wanted) else { return false }
    index += 1
    return true
  }

  mutating func values() throws(Malformed) -> [ByteText: CMCDReport.Value] {
    var values: [ByteText: CMCDReport.Value] = [:]
    repeat {
      skipSpaces()
      let key = try key()
      let value: CMCDReport.Value = skip("=") ? try self.value() : .flag(true)
      try skipParameters()
      // RFC 9651 section 4.2.2: the last value of a key is used.
      values[key] = value
      guard values.count <= CMCDReport.keys else {
        throw malformed("more than \(CMCDReport.keys) keys")
      }
      skipSpaces()
    } while skip(",")
    guard index == bytes.count else { throw malformed("expected a comma") }
    return values
  }

  private mutating func key() throws(Malformed) -> String {
    let start = index
    while let byte, Self.isKey(byte) { index += 1 }
    guard index > start else { throw malformed("expected a key") }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private static func isKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "."), UInt8(ascii: "*"):
      true
    default: false
    }
  }

  private mutating func value() throws(Malformed) -> CMCDReport.Value {
    guard skip("(") else { return try item() }
    var values: [CMCDReport.Value] = []
    while true {
      skipSpaces()
      if skip(")") { return .list(values) }
      values.append(try item())
      try skipParameters()
    }
  }

  private mutating func item() throws(Malformed) -> CMCDReport.Value {
    switch byte {
    case UInt8(ascii: "\"")?:
      return .text(try text())
    case UInt8(ascii: "?")?:
      index += 1
      if skip("1") { return .flag(true) }
      if skip("0") { return .flag(false) }
      throw malformed("expected 0 or 1")
    case UInt8(ascii: ":")?:
      return .token(try byteSequence())
    case UInt8(ascii: "@")?:
      index += 1
      guard case .number(let seconds) = try item() else { throw malformed("expected a date") }
      return .token("@\(seconds)")
    case UInt8(ascii: "%")? where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\""):
      index += 1
      return .text(try text())
    default:
      let start = index
      while let byte, Self.isToken(byte) { index += 1 }
      guard index > start else { throw malformed("expected a value") }
      let token = String(decoding: bytes[start..<index], as: UTF8.self)
      if Self.isNumber(token), let number = Double(token) { return .number(number) }
      return .token(token)
    }
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    isKey(byte) || "+!#$%&'^`|~:/".utf8.contains(byte)
  }

  private static func isNumber(_ token: String) -> Bool {
    let digits = token.utf8.drop { $0 == UInt8(ascii: "-") }
    return !digits.isEmpty && token.utf8.count - digits.count <= 1
      && digits.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
      }
  }

  /// Reads Base64 between colons. No key that is counted has such a value.
  private mutating func byteSequence() throws(Malformed) -> String {
    guard let end = bytes[(index + 1)...].firstIndex(of: UInt8(ascii: ":")) else {
      index = bytes.count
      throw malformed("missing closing colon")
    }
    defer { index = end + 1 }
    return String(decoding: bytes[index...end], as: UTF8.self)
  }

  private mutating func text() throws(Malformed) -> String {
    index += 1
    var text: [UInt8] = []
    while let byte {
      index += 1
      if byte == UInt8(ascii: "\"") {
        guard let text = String(validating: text, as: UTF8.self) else {
          throw malformed("invalid UTF-8 before the end")
        }
        return text
      }
      if byte == UInt8(ascii: "\\") {
        guard let escaped = self.byte else { break }
        index += 1
        text.append(escaped)
      } else {
        text.append(byte)
      }
    }
    throw malformed("missing closing quotation mark")
  }

  private mutating func skipParameters() throws(Malformed) {
    while skip(";") {
      skipSpaces()
      _ = try key()
      if skip("=") { _ = try item() }
    }
  }
}
