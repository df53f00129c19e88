import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import lookahead

@Suite struct ProgressMeterTests {
  private final class Screen: Sendable {
    let text = Mutex("")
    let seconds = Mutex(0.0)

    func meter(isTerminal: Bool) -> ProgressMeter {
      ProgressMeter(
        isTerminal: isTerminal, elapsed: { self.seconds.withLock { $0 } },
        write: { text in self.text.withLock { $0 += text } })
    }

    func shows(_ expected: String) -> Bool { text.withLock { $0 == expected } }
  }

  @Test func `without a terminal lines come each time twice as late`() {
    let screen = Screen()
    let meter = screen.meter(isTerminal: false)
    for second in 0..<60 {
      screen.seconds.withLock { $0 = Double(second) }
      meter.show("at \(second)\u{1b}")
    }
    meter.clear()
    #expect(
      screen.shows(
        "at 5\\u001b, 5.0 s\nat 10\\u001b, 10.0 s\nat 20\\u001b, 20.0 s\nat 40\\u001b, 40.0 s\n"))
  }

  @Test func `on a terminal each text takes the place of the last, and none is left`() {
    let screen = Screen()
    let meter = screen.meter(isTerminal: true)
    meter.clear()
    meter.show("one")
    meter.show("two")
    meter.clear()
    meter.clear()
    #expect(screen.shows("\rone, 0.0 s \u{1b}[K\rtwo, 0.0 s \u{1b}[K\r\u{1b}[K"))
  }

  @Test func `prune shows on a terminal how far it has come`() throws {
    let program = Program()
    #expect(try program.run("seed", "--generate", "2500").status == 0)
    // A terminal (pty(7)): TIOCSPTLCK unlocks its other side, TIOCGPTN tells that one's number.
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    defer { close(terminal) }
    var (lock, number): (Int32, UInt32) = (0, 0)
    try #require(ioctl(terminal, 0x4004_5431, &lock) == 0)
    try #require(ioctl(terminal, 0x8004_5430, &number) == 0)
    let side = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    let process = program.process(["prune", "--keep-posts", "40", "--dry-run"])
    process.standardError = side
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    // Little enough to lie in the terminal until it is read.
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(terminal, &bytes, bytes.count)
    let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    #expect(process.terminationStatus == 0)
    let steps = text.matches(of: /\r([0-9]+) posts looked at, ([0-9]+) would be deleted/)
    let seen = steps.compactMap { Int($0.output.1) }
    // A transaction looks at a thousand posts at the most.
    #expect(seen.count >= 3 && seen == seen.sorted() && seen.last == 2_500, "\(text)")
    #expect(steps.compactMap { Int($0.output.2) }.max() ?? 0 > 1_500)
    #expect(text.hasSuffix("\r\u{1b}[K"))
  }
}
