import Compression
import FeedFormats

/// An input whose beginning has been looked at: it can be read, and what it is written in is known.
package struct InspectedInput: Sendable {
  /// The input, of which `start` has been read.
  let input: SeedInput
  /// What it is written in.
  package let format: FeedFormat
  private let start: [UInt8]
  private let decompression: Decompression

  /// So much of a compressed input is decompressed at once: what is wrong with it is found that near.
  private static let sliceBytes = 1 << 16

  /// Looks at an input.
  ///
  /// - Throws: `SeedInputError` where it cannot be read, or is nothing that is read here; and what reading
  ///   another source than a file throws.
  init(_ input: SeedInput, said: FeedFormat?, columns: [ColumnMapping]) throws {
    self.input = input
    // Records that are said to be such are written as they come: nothing waits for more of them.
    let wanted = said == .records ? Decompression.tellingBytes : FeedFormat.tellingBytes
    var start: [UInt8] = []
    var isWhole = false
    while start.count < wanted, !isWhole {
      if let bytes = try input.read(atMost: FeedFormat.tellingBytes) {
        start += bytes
      } else {
        isWhole = true
      }
    }
    self.start = start
    decompression = Decompression(start: start)
    let text = try Self.beginning(of: start, isWhole: isWhole, decompression, input.name)
    do throws(FormatProblem) {
      format = try FeedFormat.guess(text, said: said, columns: columns)
    } catch {
      throw SeedInputError(name: input.name, reason: error.description)
    }
  }

  /// Enough was decompressed.
  private struct Enough: Error {}

  private static func beginning(
    of start: [UInt8], isWhole: Bool, _ decompression: Decompression, _ name: String
  ) throws -> [UInt8] {
    var text: [UInt8] = []
    do {
      let decoder = try decompression.decoder()
      try decoder.decode(start) { piece in
        text += piece.prefix(FeedFormat.tellingBytes - text.count)
        if text.count == FeedFormat.tellingBytes { throw Enough() }
      }
      if isWhole { try decoder.finish() }
    } catch is Enough {
    } catch {
      throw SeedInputError(name: name, reason: "\(error), within its first \(start.count) bytes")
    }
    return text
  }

  /// Hands out all of its bytes, decompressed, in pieces.
  ///
  /// - Parameter limitBytes: how many bytes a compressed input may stand for.
  /// - Throws: `SeedInputError`, what `body` throws, and what reading another source than a file throws.
  func read(limitBytes: Int, _ body: ([UInt8]) throws -> Void) throws {
    guard case .none = decompression else {
      try readCompressed(limitBytes: limitBytes, body)
      return
    }
    if !start.isEmpty { try body(start) }
    while let bytes = try input.read() { try body(bytes) }
  }

  /// What the body threw, told from what the decoder throws.
  private struct Interruption: Error { let cause: any Error }

  private func readCompressed(
    limitBytes: Int, _ body: ([UInt8]) throws -> Void
  ) throws {
    var (readBytes, madeBytes) = (0, 0)
    do {
      let decoder = try decompression.decoder()
      var next: [UInt8]? = start
      while let bytes = next {
        for begin in stride(from: 0, to: bytes.count, by: Self.sliceBytes) {
          let slice = Array(bytes[begin..<min(begin + Self.sliceBytes, bytes.count)])
          readBytes += slice.count
          try decoder.decode(slice) { piece in
            madeBytes += piece.count
            guard madeBytes <= limitBytes else { throw Interruption(cause: tooLarge(limitBytes)) }
            do { try body(Array(piece)) } catch { throw Interruption(cause: error) }
          }
        }
        do { next = try input.read() } catch { throw Interruption(cause: error) }
      }
      try decoder.finish()
    } catch let interruption as Interruption {
      throw interruption.cause
    } catch {
      let place = "found at byte \(readBytes), after \(madeBytes) decompressed bytes"
      throw SeedInputError(name: input.name, reason: "\(error) (\(place))")
    }
  }

  private func tooLarge(_ limitBytes: Int) -> SeedInputError {
    SeedInputError(
      name: input.name,
      reason: "it decompresses to more than \(limitBytes) bytes (--decompressed-bytes)")
  }
}
