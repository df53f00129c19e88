import Compression
import FeedFormats

/// An input whose beginning has been read: it is readable, and its format is known.
package struct InspectedInput: Sendable {
  /// The input, after `start` has been read from it.
  let input: SeedInput
  /// The input's format.
  package let format: FeedFormat
  private let start: [UInt8]
  private let decompression: Decompression

  /// The number of compressed bytes decoded at a time. An error is found after at most this many.
  private static let sliceBytes = 1 << 16

  /// Reads the beginning of an input.
  ///
  /// - Throws: `SeedInputError` if the input cannot be read or is in no known format; and what a source
  ///   other than a file throws.
  init(_ input: SeedInput, said: FeedFormat?, columns: [ColumnMapping]) throws {
    self.input = input
    // Declared records may come from a pipe that is still being written: do not wait for more of them.
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

  /// Thrown when enough bytes have been decompressed.
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

  /// Passes all bytes of the input, decompressed, to `body` in pieces.
  ///
  /// - Parameter limitBytes: the maximum decompressed size of a compressed input.
  /// - Throws: `SeedInputError`, what `body` throws, and what a source other than a file throws.
  func read(limitBytes: Int, _ body: ([UInt8]) throws -> Void) throws {
    guard case .none = decompression else {
      try readCompressed(limitBytes: limitBytes, body)
      return
    }
    if !start.isEmpty { try body(start) }
    while let bytes = try input.read() { try body(bytes) }
  }

  /// Wraps an error of the body, to tell it from an error of the decoder.
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
