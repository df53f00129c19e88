import System

/// A descriptor that takes a log or does not.
struct LogOutput {
  let descriptor: Int32
  /// Whether the last that was written is the beginning of a line whose end was lost.
  private var isWithinLine = false

  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes whole lines, waiting where the descriptor would block; what fails otherwise (a broken
  /// pipe, a full disk) is given up and not tried again, so that nothing spins.
  ///
  /// - Returns: How many lines were lost.
  mutating func write(_ lines: [UInt8]) -> Int {
    if isWithinLine {
      guard Descriptor.writeAll([UInt8(ascii: "\n")], to: descriptor) == 1 else {
        return Self.count(lines[...])
      }
      isWithinLine = false
    }
    let written = Descriptor.writeAll(lines, to: descriptor)
    guard written < lines.count else { return 0 }
    isWithinLine = written > 0 && lines[written - 1] != UInt8(ascii: "\n")
    return Self.count(lines[written...])
  }

  /// How many lines end in these bytes.
  private static func count(_ lines: ArraySlice<UInt8>) -> Int {
    lines.reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
  }
}
