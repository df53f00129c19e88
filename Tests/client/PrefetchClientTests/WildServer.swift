import Synchronization
import TestSupport

/// A server of one file that keeps changing, and that does all that servers should not: what it answers is
/// decided here, and brought by memory or by sockets.
final class WildServer: Sendable {
  struct Answer: Sendable {
    var status = 206
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// This many bytes of the body are sent before the connection ends, where it ends early.
    var cutAt: Int?

    /// The same as it goes over a socket.
    var reply: LoopbackServer.Reply {
      LoopbackServer.Reply(
        status: "\(status) x", fields: fields, body: body, cutAt: cutAt ?? .max)
    }
  }

  private struct State {
    var random: TestRandom
    var version = 0
    var requests = 0
  }

  private let state: Mutex<State>
  /// How often, in a hundred answers, it does something that it should not.
  private let wildPercent: Int
  /// How often, in a thousand, the file becomes another one.
  private let changePermille: Int

  init(seed: UInt64, wildPercent: Int = 40, changePermille: Int = 5) {
    state = Mutex(State(random: TestRandom(seed)))
    self.wildPercent = wildPercent
    self.changePermille = changePermille
  }

  /// How many requests came.
  var requests: Int { state.withLock { $0.requests } }

  /// The file becomes another one.
  func change() { state.withLock { $0.version += 1 } }

  /// What the file is, or was, as this version.
  static func content(_ version: Int) -> [UInt8] {
    var random = TestRandom(UInt64(version) &+ 77)
    let count = 300_000 + version % 7 * 10_007
    return (0..<(count + 7) / 8).flatMap { _ in
      let word = random.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
    .prefix(count).map(\.self)
  }

  private static let contents = Mutex<[Int: [UInt8]]>([:])

  static func kept(_ version: Int) -> [UInt8] {
    contents.withLock { contents in
      if let known = contents[version] { return known }
      let made = content(version)
      contents[version] = made
      return made
    }
  }

  /// Every version that the file has had.
  var versions: [[UInt8]] {
    (0...state.withLock { $0.version }).map { Self.kept($0) }
  }

  /// The answer to a request with this `Range` and `If-Range`.
  func answer(range: String?, ifRange: String?) -> Answer {
    let (version, isWild, choice, amount) = state.withLock { state in
      state.requests += 1
      if state.random.number(1...1_000) <= changePermille { state.version += 1 }
      return (
        state.version, state.random.chance(wildPercent), state.random.number(0...9),
        state.random.number(0...400_000)
      )
    }
    let file = Self.kept(version)
    let tag = "\"v\(version)\""
    var answer = Answer(fields: [("ETag", tag), ("Content-Type", "video/mp4")])
    let asked = range.flatMap(Self.parse)
    guard let asked, ifRange == nil || ifRange == tag else {
      answer.status = 200
      answer.body = file
      answer.fields.append(("Content-Length", "\(file.count)"))
      if isWild, choice < 5 { answer.cutAt = min(amount, file.count - 1) }
      return answer
    }
    guard asked.first < file.count else {
      return Answer(status: 416, fields: [("Content-Range", "bytes */\(file.count)")])
    }
    var (first, end) = (asked.first, min(asked.end ?? .max, file.count))
    var fileBytes = file.count
    if isWild {
      switch choice {
      case 0: return Answer(status: 503, fields: [("Retry-After", "0"), ("Content-Length", "0")])
      case 1: answer.cutAt = min(amount % 50_000, max(end - first - 1, 0))
      case 2:
        // It does not know ranges just now.
        answer.status = 200
        answer.body = file
        answer.fields.append(("Content-Length", "\(file.count)"))
        return answer
      case 3:
        // No validator.
        answer.fields.removeAll { $0.name == "ETag" }
      case 4: answer.fields[0].value = "W/" + tag
      case 5: end = min(end, first + 1 + amount % 10_000)
      case 6: fileBytes += 1 + amount
      case 7: first = min(first + 1, end - 1)
      case 8: end = min(end + 1 + amount, file.count)
      default:
        // It promises more than it sends.
        answer.body = Array(file[first..<end].dropLast(amount % 1_000))
        answer.cutAt = answer.body.count
      }
    }
    if answer.body.isEmpty, answer.cutAt != 0 { answer.body = Array(file[first..<end]) }
    answer.fields.append(("Content-Range", "bytes \(first)-\(end - 1)/\(fileBytes)"))
    answer.fields.append(("Content-Length", "\(end - first)"))
    return answer
  }

  private static func parse(_ text: String) -> (first: Int, end: Int?)? {
    let parts = text.dropFirst("bytes=".count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard text.hasPrefix("bytes="), parts.count == 2, let first = Int(parts[0]) else { return nil }
    return (first, Int(parts[1]).map { $0 + 1 })
  }
}
