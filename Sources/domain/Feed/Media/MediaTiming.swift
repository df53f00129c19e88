/// How many bytes of a file start it, and play it how far. All counts begin at the file's first byte, are
/// rounded up where they are not exact, and never go beyond its end.
public struct MediaTiming: Hashable, Sendable, Codable {
  /// How far the first bytes play.
  public struct Point: Hashable, Sendable, Codable {
    /// A time from the first moment that is shown.
    public let milliseconds: Int
    /// Bytes `0..<bytes` are enough to play through that time.
    public let bytes: Int

    /// A point of a curve.
    public init(milliseconds: Int, bytes: Int) {
      self.milliseconds = milliseconds
      self.bytes = bytes
    }
  }

  /// How much has to be there before playback starts.
  public struct Lead: Hashable, Sendable, Codable {
    /// The bandwidth: 1000 bits a second.
    public let kilobitsPerSecond: Int
    /// With bytes `0..<bytes` there, playback never stalls at that bandwidth.
    public let bytes: Int

    /// A row of the leads.
    public init(kilobitsPerSecond: Int, bytes: Int) {
      self.kilobitsPerSecond = kilobitsPerSecond
      self.bytes = bytes
    }
  }

  /// Whether a head of the file shows its first frame. False where what it takes lies at the file's end,
  /// such as the `moov` of an MP4 file: then `neededRanges` says what is to be fetched.
  public var isStartable: Bool
  /// Bytes `0..<headBytes` are enough to decode and to present the first frame, with the sound of that
  /// moment; of an image, its first scan where it comes in several.
  public var headBytes: Int
  /// What shows the first frame of a file that is not startable: ascending, apart from each other; empty
  /// where the file is startable.
  public var neededRanges: [Range<Int>]
  /// Where each scan of an image ends that comes in several, rising: bytes `0..<scanEnds[n]` show n + 1 of
  /// them; of the first ones, where there are very many. Empty for all others.
  public var scanEnds: [Int]
  /// How far the first bytes play: neither time nor bytes ever fall. Empty where nothing moves.
  public var curve: [Point]
  /// By rising bandwidth, bytes never rising: a client takes the row of the next lower bandwidth, and where
  /// there is none, the whole file.
  public var lead: [Lead]

  /// These counts; `problem(fileBytes:)` says whether they agree.
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

  /// How many rows each list has at the most.
  public static let rowLimit = 256

  /// Why these counts cannot be those of a file of this many bytes, and in which of them; `nil` where they can.
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
