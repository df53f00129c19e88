import ArgumentParser
import Feed
import PostJSON
import System

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract:
      "Print what to load next, and why: states and events in, actions out, as lines of JSON.",
    discussion: """
      A line without "event" is a state: items with the known facts about their files, what is \
      held and being loaded, the active item, the network, a strategy. It restarts the engine. A \
      line with "event" is an event. The command answers each line at once, with one line of \
      actions. For the fields, see docs/engine.md. An invalid line is reported as FILE:LINE: \
      problem; the command then stops with exit status 1.
      """)

  @Argument(help: "Files to read; - is standard input.")
  var files: [String] = ["-"]

  func run() throws {
    var session = PlanSession()
    for file in files {
      var lines = try PlanLines(file)
      while let line = try lines.next() {
        let answer: [UInt8]
        do throws(RecordError) {
          answer = try session.answer(line)
        } catch {
          throw lines.error("\(error)")
        }
        try printBytes(answer)
      }
    }
  }
}

/// The lines of a file, without empty ones.
private struct PlanLines {
  private let file: Descriptor
  private let name: String
  private static let readBytes = 1 << 16
  private var buffer: [UInt8] = []
  /// The length of the beginning of the buffer that has no line feed.
  private var scanned = 0
  private var number = 0
  private var isAtEnd = false

  init(_ path: String) throws {
    name = path == "-" ? "standard input" : path
    guard path != "-" else {
      file = .standardInput
      return
    }
    do throws(SystemError) {
      file = try Descriptor(path)
    } catch {
      throw PlanError("\(path): cannot be read: \(error.reason)")
    }
  }

  mutating func next() throws -> [UInt8]? {
    while true {
      if let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
        if let line = take(end) { return line }
        continue
      }
      scanned = buffer.count
      guard !isAtEnd else {
        return buffer.isEmpty ? nil : take(buffer.count)
      }
      guard buffer.count <= PlanLimits.lineBytes else {
        number += 1
        throw error("the line has more than \(PlanLimits.lineBytes) bytes")
      }
      // Reads what is available, not a full buffer: a program at the other end may wait for an answer.
      let read: [UInt8]
      do throws(SystemError) {
        read = try file.readNext(atMost: Self.readBytes)
      } catch {
        throw PlanError("\(name): cannot be read: \(error.reason)")
      }
      isAtEnd = read.isEmpty
      buffer += read
    }
  }

  /// Takes the line that ends at `end`; `nil` if it is blank.
  private mutating func take(_ end: Int) -> [UInt8]? {
    let line = Array(buffer[..<end])
    buffer.removeFirst(min(end + 1, buffer.count))
    scanned = 0
    number += 1
    return line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d } ? nil : line
  }

  func error(_ problem: String) -> PlanError { PlanError("\(name):\(number): \(problem)") }
}

/// An error that ends the command.
private struct PlanError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
