import HTTP

@testable import HTTPServer

extension MachineWorld {
  /// What the client has got: of each final answer the status, and the text where it is 200.
  var answers: [String] {
    var answers: [String] = []
    var rest = written[...]
    while let head = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
      let lines = String(decoding: rest[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
      rest = rest[head.upperBound...]
      let status = lines[0].split(separator: " ")[1]
      guard status != "100" else { continue }
      var length = 0
      for line in lines where line.hasPrefix("Content-Length: ") {
        length = Int(line.dropFirst(16)) ?? 0
      }
      // Exchanges have the numbers of their answers.
      let number = UInt64(answers.count)
      if calls.contains(where: { $0.exchange == number && $0.request.method == .head }) {
        length = 0
      }
      let text = String(decoding: rest.prefix(length), as: UTF8.self)
      rest = rest.dropFirst(length)
      answers.append(status == "200" ? "200 \(text)" : "\(status)")
    }
    return rest.isEmpty ? answers : answers + ["and \(rest.count) bytes"]
  }

  /// How many times the client was told to send its body.
  var continueCount: Int {
    var count = 0
    var rest = written[...]
    while let found = rest.firstRange(of: ResponseHead.continue) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }

  /// What the stream's bodies were, and whether they were whole.
  var bodies: [String] {
    streams.map { stream in
      let text = String(decoding: stream.taken + stream.waiting, as: UTF8.self)
      guard let end = stream.end else { return text + "…" }
      return end.error.map { "\(text)! \($0)" } ?? text
    }
  }

  /// The client ends its side, and everybody does what is owed.
  mutating func finish() {
    clientHasFinished = true
    settleDebts()
  }

  /// Nobody does anything any more but the clock; says after how many deadlines the connection ended,
  /// nil where it does not.
  mutating func expire(within deadlines: Int = 8) -> Int? {
    for count in 0...deadlines {
      if isClosed { return count }
      // What the loop owes comes by itself.
      gatheringEnds()
      turnComes()
      guard !isClosed, let wait = lastWait else { continue }
      pass(
        milliseconds: max(
          1, wait.deadlineMilliseconds &- min(wait.deadlineMilliseconds, around.nowMilliseconds)))
    }
    return nil
  }
}
