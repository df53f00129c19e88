import Foundation
import Logging
import System
import TestSupport
import Testing

@testable import Observability

struct LineLogHandlerTests {
  static let time = "2026-11-21T05:19:46.123Z"

  /// What a logger writes.
  static func written(_ format: LogFormat, _ body: (inout Logger) -> Void) throws -> String {
    let file = LogFile(format)
    var logger = Logger(label: "lookahead") { label in
      LineLogHandler(label: label, sink: file.sink, logLevel: .trace, now: { LogFile.time })
    }
    body(&logger)
    return try file.text()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var message: String
    var metadata: Logger.Metadata = [:]
    var text: String
    var json: String
    var testDescription: String { message.debugDescription }
  }

  static let cases: [Case] = [
    Case(message: "message", text: "message", json: #""message":"message""#),
    Case(message: "", text: "", json: #""message":"""#),
    Case(
      message: "a \"b\" c=d", metadata: ["key": "value", "key2": "with space"],
      text: #"a "b" c=d key=value key2="with space""#,
      json: #""message":"a \"b\" c=d","key":"value","key2":"with space""#),
    Case(
      message: "m", metadata: ["a": "", "b": "x=y", "c": "\"", "d": "\\", "e": "\n", "f f": "µ"],
      text: #"m a="" b="x=y" c="\"" d="\\" e="\n" "f f"=µ"#,
      json: #""message":"m","a":"","b":"x=y","c":"\"","d":"\\","e":"\n","f f":"µ""#),
    Case(
      message: "m", metadata: ["list": ["1", ["x": "y z", "w": []]], "n": .stringConvertible(5)],
      text: #"m list=["1",{"w":[],"x":"y z"}] n=5"#,
      json: #""message":"m","list":["1",{"w":[],"x":"y z"}],"n":5"#),
    Case(
      message: "m",
      metadata: ["time": "1", "level": "2", "logger": "3", "message": "4", "time_": "5"],
      text: "m level=2 logger=3 message=4 time=1 time_=5",
      json: #""message":"m","level_":"2","logger_":"3","message_":"4","time__":"1","time_":"5""#),
  ]

  @Test(arguments: [Int.min, -9_223_372_037, -1, 0, 9_223_372_036, 9_223_372_037, Int.max])
  func `a clock that is far off is written as the first or last moment`(_ seconds: Int) {
    for part in [Int.min, -1, 0, 999_999_999, Int.max] {
      var writer = LineWriter()
      writer.time(
        Moment(secondsSince1970: seconds, nanoseconds: part).nanosecondsSince1970)
      #expect(writer.bytes.count == 24)
    }
    #expect(
      Moment(secondsSince1970: 5, nanoseconds: 7).nanosecondsSince1970 == 5_000_000_007)
  }

  @Test(arguments: cases)
  func `a message is one line of text`(_ sample: Case) throws {
    let line = try Self.written(.text) {
      $0.info("\(sample.message)", metadata: sample.metadata)
    }
    #expect(line == "\(Self.time) info  \(sample.text)\n")
  }

  @Test(arguments: cases)
  func `a message is one object of JSON`(_ sample: Case) throws {
    let line = try Self.written(.json) {
      $0.info("\(sample.message)", metadata: sample.metadata)
    }
    let start = #"{"time":"\#(Self.time)","level":"info","logger":"lookahead","#
    #expect(line == start + sample.json + "}\n")
  }

  @Test func `levels are as wide as the usual ones`() throws {
    let text = try Self.written(.text) { logger in
      for level in Logger.Level.allCases { logger.log(level: level, "m") }
    }
    let names = ["trace", "debug", "info ", "notice", "warning", "error", "critical"]
    #expect(text == names.map { "\(Self.time) \($0) m\n" }.joined())
  }

  @Test func `the message's metadata go before the provider's, and those before the logger's`()
    throws
  {
    let file = LogFile(.text)
    var handler = LineLogHandler(
      label: "x", sink: file.sink,
      metadataProvider: .init { ["b": "provider", "c": "provider"] }, now: { LogFile.time })
    for key in ["a", "b", "c"] { handler[metadataKey: key] = "logger" }
    #expect(handler[metadataKey: "a"] == "logger")
    Logger(label: "x") { [handler] _ in handler }.info("m", metadata: ["c": "message"])
    #expect(try file.text() == "\(Self.time) info  m a=logger b=provider c=message\n")
  }

  @Test func `a level below the logger's is not written, and two loggers have levels of their own`()
    throws
  {
    let text = try Self.written(.text) { logger in
      var other = logger
      other.logLevel = .error
      other.warning("no")
      logger.warning("yes")
    }
    #expect(text == "\(Self.time) warning yes\n")
  }

  // MARK: Injection

  static let attacks: [(text: String, escaped: String)] = [
    ("a\nb", #"a\nb"#), ("a\r\nb", #"a\r\nb"#), ("\u{1b}[2J", #"\u001b[2J"#), ("\0", #"\u0000"#),
    ("\u{7f}", #"\u007f"#), ("\u{85}x", #"\u0085x"#), ("\u{9b}31m", #"\u009b31m"#),
    ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("\u{202e}gnp", #"\u202egnp"#),
    ("\u{2066}x\u{2069}", #"\u2066x\u2069"#), ("\t\u{8}\u{c}", #"\t\b\f"#),
    ("\\n", #"\\n"#),
    ("\u{a0}\u{2027}\u{202f}\u{2065}\u{206a}", "\u{a0}\u{2027}\u{202f}\u{2065}\u{206a}"),
    ("\u{301}\u{3bc}\u{1f600}", "\u{301}\u{3bc}\u{1f600}"),
  ]

  @Test(arguments: attacks, LogFormat.allCases)
  func `no text starts a line or an escape sequence`(
    _ attack: (text: String, escaped: String), _ format: LogFormat
  ) throws {
    let line = try Self.written(format) { logger in
      logger.info("<\(attack.text)>", metadata: [attack.text: "\(attack.text)"])
    }
    let escaped = Array("<\(attack.escaped)>".utf8)
    #expect(Array(line.utf8).contains(escaped))
    #expect(line.utf8.filter { $0 < 0x20 } == [0x0a])
    #expect(line.utf8.last == 0x0a)
  }

  @Test(arguments: TestRandom.seeds) func `any text comes back from the JSON form`(seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    for _ in 0..<300 {
      let (message, key, value) = (
        random.text(0...40), "k" + random.text(0...9), random.text(0...40)
      )
      let line = try Self.written(.json) {
        $0.info("\(message)", metadata: [key: "\(value)"])
      }
      #expect(line.utf8.filter { $0 < 0x20 } == [0x0a], TestRandom.replay)
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
      #expect(object["message"].map { Array($0.utf8) } == Array(message.utf8), TestRandom.replay)
      let read = object.first { Array($0.key.utf8) == Array(key.utf8) }
      #expect(read.map { Array($0.value.utf8) } == Array(value.utf8), TestRandom.replay)
    }
  }

  // MARK: Times

  static let times: [(Int, String)] = [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    (951_782_399_999_999_999, "2000-02-28T23:59:59.999Z"),
    (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
    (1_709_251_199_000_999_999, "2024-02-29T23:59:59.000Z"),
    (4_107_542_400_001_000_000, "2100-03-01T00:00:00.001Z"),
    (.min, "1677-09-21T00:12:43.145Z"), (.max, "2262-04-11T23:47:16.854Z"),
  ]

  @Test(arguments: times)
  func `a time is UTC with milliseconds`(_ nanoseconds: Int, _ text: String) {
    var writer = LineWriter()
    writer.time(nanoseconds)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
  }

  @Test(arguments: [0, 7, 10, 99, 100, -1, -10, Int.max, Int.min])
  func `a whole number has all its digits`(_ number: Int) {
    var writer = LineWriter()
    writer.integer(number)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "\(number)")
  }
}
