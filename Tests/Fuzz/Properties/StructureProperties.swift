import MediaFormats

/// What must hold of a media file's structure, whatever its bytes are.
enum StructureProperties {
  /// Small, so that a count that is made large costs little before it is refused.
  private static let limits: MediaLimits = {
    var limits = MediaLimits()
    limits.samples = 3000
    limits.parts = 20_000
    limits.tableBytes = 1 << 20
    return limits
  }()

  /// What does not hold, as a sentence. The input's first byte chooses how far a stream is walked.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let source = Source(all: input.content)
    var limits = limits
    if input.choice % 2 == 1 { limits.walkedBytes = Int64(input.choice) }
    do throws(any Error) {
      let found = try MediaStructure(reading: source, limits: limits)
      if let fault = fault(of: found) { return fault }
    } catch {
      if let fault = fault(of: error) { return fault }
    }
    do throws(any Error) {
      let plan = try FaststartPlan(for: source, limits: limits)
      return fault(of: plan, source)
    } catch {
      return error is FaststartError ? nil : fault(of: error)
    }
  }

  private static func fault(of error: any Error) -> String? {
    guard let error = error as? FormatError else { return "an error of another kind: \(error)" }
    if error.description.isEmpty { return "an error that says nothing" }
    return error.offset < 0 ? "an error at \(error.offset)" : nil
  }

  private static func fault(of found: MediaStructure) -> String? {
    let start = found.start
    var bytes = start.headBytes
    guard bytes >= 0, bytes <= found.bytes else { return "a head of \(bytes) bytes" }
    var milliseconds: Int64 = 0
    for point in start.curve {
      guard point.bytes >= bytes, point.bytes <= found.bytes, point.milliseconds > milliseconds
      else { return "the curve \(start.curve) behind a head of \(start.headBytes)" }
      (bytes, milliseconds) = (point.bytes, point.milliseconds)
    }
    bytes = found.bytes
    for row in start.lead {
      guard row.bytes <= bytes, row.bytes >= start.headBytes else { return "leads \(start.lead)" }
      bytes = row.bytes
    }
    guard start.scanEnds == start.scanEnds.sorted(), start.scanEnds.last ?? 0 <= found.bytes else {
      return "scans that end at \(start.scanEnds)"
    }
    var end: Int64 = -1
    for range in start.neededRanges {
      guard range.lowerBound > end, range.upperBound <= found.bytes else {
        return "the ranges \(start.neededRanges)"
      }
      end = range.upperBound
    }
    return found.durationMilliseconds ?? 0 < 0 ? "a duration below 0" : nil
  }

  /// A plan's file has its tables in front, and is read as the old one is.
  private static func fault(of plan: FaststartPlan, _ source: Source) -> String? {
    let bytes =
      plan.head
      + plan.ranges.flatMap { source.all[Int($0.lowerBound)..<Int($0.upperBound)] }
    if Int64(bytes.count) != plan.bytes {
      return "a plan of \(plan.bytes), not \(bytes.count) bytes"
    }
    guard let old = try? MediaStructure(reading: source),
      let new = try? MediaStructure(reading: Source(all: bytes))
    else { return nil }
    if old.flaws.isEmpty, old.frameCount != new.frameCount { return "a plan loses frames" }
    return old.flaws.isEmpty && old.durationMilliseconds != new.durationMilliseconds
      ? "a plan changes how long it lasts" : nil
  }

  /// Bytes that trap where they are asked for what is not there.
  private struct Source: ByteSource {
    let all: [UInt8]
    var size: Int64 { Int64(all.count) }

    func bytes(at offset: Int64, count: Int) -> [UInt8] {
      precondition(count > 0)
      return Array(all[Int(offset)..<Int(offset) + count])
    }
  }
}
