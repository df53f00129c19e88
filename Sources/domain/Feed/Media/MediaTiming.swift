/// The numbers of bytes that a file needs to start and to play on. All counts begin at the file's first
/// byte, are rounded up if they are not exact, and never exceed the file's size.
public struct MediaTiming: Hashable, Sendable, Codable {
  /// A point of the curve from bytes to playing time.
  public struct Point: Hashable, Sendable, Codable {
    /// A time since the first moment that is shown.
    public let milliseconds: Int
    /// Bytes `0..<bytes` are enough to play up to that time.
    public let bytes: Int

    /// Creates a point of a curve.
    public init(milliseconds: Int, bytes: Int) {
      self.milliseconds = milliseconds
      self.bytes = bytes
    }
  }

  /// The bytes that must be present before playback starts, at one bandwidth.
  public struct Lead: Hashable, Sendable, Codable {
    /// The bandwidth in units of 1000 bits per second.
    public let kilobitsPerSecond: Int
    /// If bytes `0..<bytes` are present, playback never stalls at that bandwidth.
    public let bytes: Int

    /// Creates a row of the leads.
    public init(kilobitsPerSecond: Int, bytes: Int) {
      self.kilobitsPerSecond = kilobitsPerSecond
      self.bytes = bytes
    }
  }

  /// Whether the first bytes of the file are enough for its first frame. False if a needed part lies at the
  /// file's end, such as the `moov` of an MP4 file; `neededRanges` then lists the ranges to fetch.
  public var isStartable: Bool
  /// Bytes `0..<headBytes` are enough to decode and present the first frame, with the sound of that moment;
  /// for an image in several scans, its first scan.
  public var headBytes: Int
  /// The ranges that are enough for the first frame of a file that is not startable, ascending and not
  /// adjacent; empty if the file is startable.
  public var neededRanges: [Range<Int>]
  /// The end of each scan of an image in several scans, ascending: bytes `0..<scanEnds[n]` show n + 1
  /// scans. Only the first scans if there are very many. Empty for all other files.
  public var scanEnds: [Int]
  /// The playing time of the first bytes: times and bytes never decrease. Empty for a still image.
  public var curve: [Point]
  /// The bytes to load before playback, by ascending bandwidth; bytes never increase. A client takes the
  /// row of the next lower bandwidth, and the whole file if there is none.
  public var lead: [Lead]

  /// Creates a timing without checks; `problem(fileBytes:)` checks that the counts are consistent.
  public init(
    isStartable: Bool = true, headBytes: Int, neededRanges: [Range<Int>] = [],
    scanEnds: [Int] = [], curve: [Point] = [], lead: [Lead] = []
  ) {
    self.isStartable = isStartable
    self.headBytes = headBytes
    self.neededRanges = neededRanges
    self.scanEnds = scanEnds
    self.curve = curve
    self.lead = lead
  }

  /// The maximum number of rows of each list.
  public static let rowLimit = 256

  /// The first field whose counts are impossible for a file of this size, and the reason; `nil` if there is
  /// none.
  public func problem(fileBytes: Int) -> (field: String, words: String)? {
    guard (0...fileBytes).contains(headBytes) else {
      return ("headBytes", "\(headBytes) is not in 0…\(fileBytes), the file's size")
    }
    if isStartable != neededRanges.isEmpty {
      return ("needed", isStartable ? "is only for a file that is not startable" : "is missing")
    }
    var end = -1
    for range in neededRanges {
      guard range.lowerBound > end, !range.isEmpty, range.upperBound <= fileBytes else {
        return ("needed", "has ranges that overlap, do not ascend or exceed the file")
      }
      end = range.upperBound
    }
    var scanEnd = 0
    for next in scanEnds {
      guard next > scanEnd, next <= fileBytes else {
        return ("scans", "do not rise, or exceed the file")
      }
      scanEnd = next
    }
    var last = Point(milliseconds: 0, bytes: isStartable ? headBytes : 0)
    for point in curve {
      guard point.milliseconds >= last.milliseconds, point.bytes >= last.bytes else {
        return ("curve", "falls, or begins below headBytes")
      }
      last = point
    }
    guard last.bytes <= fileBytes else { return ("curve", "exceeds the file") }
    var row = Lead(kilobitsPerSecond: 0, bytes: fileBytes)
    for next in lead {
      guard next.kilobitsPerSecond > row.kilobitsPerSecond, (0...row.bytes).contains(next.bytes)
      else {
        return ("lead", "has bandwidths that do not rise, or bytes that rise or exceed the file")
      }
      row = next
    }
    let counts = [
      ("needed", neededRanges.count), ("scans", scanEnds.count), ("curve", curve.count),
      ("lead", lead.count),
    ]
    for (field, count) in counts where count > Self.rowLimit {
      return (field, "has \(count) rows, more than \(Self.rowLimit)")
    }
    return nil
  }
}
