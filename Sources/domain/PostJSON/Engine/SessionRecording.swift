import Feed
import Prefetch
import Reports

/// A session as its client shares it with the server that asked for it: what a replay needs of a `SessionLog`, within a
/// limit, and nothing of whose it was.
///
/// Items and files have numbers, in the order in which they came, in place of ids and addresses, and the clock begins with
/// the session. What comes of a transfer within a quarter of a second is one piece: the replay knows the link no closer.
/// The first line of the log is missing: the server, which knows the policies, writes it.
public struct SessionRecording: Sendable {
  /// The most bytes that it has: with the rest of a report, what a page may send as it is left.
  public static let limitBytes = ReportLimits.recordBytes

  /// What comes of a transfer, and is not written yet.
  private struct Piece {
    let since: Int
    var until: Int
    let key: String
    var range: Range<Int>
  }

  private static let pieceMilliseconds = 250
  private static let bandwidthMilliseconds = 1_000

  /// The lines.
  public private(set) var bytes: [UInt8] = []
  /// One more line would have been too many: what came from then on is not in it.
  public private(set) var isFull = false
  private let origin: Int
  private var items: [ByteText: Int] = [:]
  private var files: [ByteText: Int] = [:]
  private var begun: Set<Int> = []
  private var pieces: [Int: Piece] = [:]
  private var bandwidthAt: Int?

  /// One that begins now, on the session's clock.
  public init(at milliseconds: Int) { origin = milliseconds }

  /// The engine was told something, and said this.
  public mutating func note(
    _ event: PrefetchEvent, _ actions: [PrefetchAction], at milliseconds: Int
  ) {
    guard !isFull else { return }
    let now = max(0, milliseconds - origin)
    write(piecesBefore: now - Self.pieceMilliseconds)
    switch event {
    case .pageArrived(let place, let items, let hasPrevious, let hasNext):
      let told = PrefetchEvent.pageArrived(
        place, items: items.map { anonymous($0) }, hasPrevious: hasPrevious, hasNext: hasNext)
      append(SessionLog.lines(told, [], at: now))
    case .bytesArrived(let transfer, let key, let range): note(transfer, key, range, at: now)
    case .bandwidthMeasured:
      guard bandwidthAt.map({ now - $0 >= Self.bandwidthMilliseconds }) ?? true else { break }
      bandwidthAt = now
      append(SessionLog.lines(event, [], at: now))
    default: break
    }
    for action in actions {
      switch action.kind {
      case .fetch(let transfer): append(SessionLog.line(requesting: transfer.id, at: now))
      case .resume(let transfer): append(SessionLog.line(requesting: transfer, at: now))
      default: break
      }
    }
  }

  /// The person looks at an item.
  public mutating func note(_ look: SessionLog.Look) {
    var look = look
    look.atMilliseconds = max(0, look.atMilliseconds - origin)
    look.item = number(look.item, in: \.items)
    append(SessionLog.line(look))
  }

  /// The person has looked at an item.
  public mutating func noteEnd(
    of item: String, at milliseconds: Int, dwellMilliseconds: Int, waitMilliseconds: Int
  ) {
    // The replay has what came until then.
    write(piecesBefore: .max)
    append(
      SessionLog.line(
        leaving: number(item, in: \.items), at: max(0, milliseconds - origin),
        dwellMilliseconds: dwellMilliseconds, waitMilliseconds: waitMilliseconds))
  }

  private mutating func note(_ transfer: Int, _ key: String, _ range: Range<Int>, at now: Int) {
    let key = number(key, in: \.files)
    if var piece = pieces[transfer], piece.range.upperBound == range.lowerBound {
      piece.range = piece.range.lowerBound..<range.upperBound
      piece.until = now
      pieces[transfer] = piece
      return
    }
    if let piece = pieces.removeValue(forKey: transfer) { write(piece, of: transfer) }
    let piece = Piece(since: now, until: now, key: key, range: range)
    // By the first one it is told how long a request takes.
    if begun.insert(transfer).inserted {
      write(piece, of: transfer)
    } else {
      pieces[transfer] = piece
    }
  }

  private mutating func write(piecesBefore time: Int) {
    guard !pieces.isEmpty else { return }
    let due = pieces.filter { $0.value.since <= time }
    for (transfer, piece) in due.sorted(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })
    {
      pieces[transfer] = nil
      write(piece, of: transfer)
    }
  }

  private mutating func write(_ piece: Piece, of transfer: Int) {
    append(
      SessionLog.lines(
        .bytesArrived(transfer: transfer, key: piece.key, piece.range), [], at: piece.until))
  }

  private mutating func append(_ line: [UInt8]) {
    guard !isFull else { return }
    guard bytes.count + line.count <= Self.limitBytes else {
      isFull = true
      pieces = [:]
      return
    }
    bytes += line
  }

  private mutating func number(
    _ name: String, in place: WritableKeyPath<Self, [ByteText: Int]>
  ) -> String {
    let known = self[keyPath: place].count + 1
    let number = self[keyPath: place][ByteText(name)] ?? known
    self[keyPath: place][ByteText(name)] = number
    return "\(number)"
  }

  private mutating func anonymous(_ item: PrefetchItem) -> PrefetchItem {
    let media = item.media.map { media in
      PrefetchMedia(
        files: media.files.map { PrefetchFile(key: number($0.key, in: \.files), load: $0.load) })
    }
    return PrefetchItem(
      id: number(item.id, in: \.items), type: item.type, media: media, survival: item.survival)
  }
}
