import Feed
import Prefetch
import Reports

/// A session that a client shares with the server on request: the parts of a `SessionLog` that a replay
/// needs, within a size limit, and without anything that identifies the user.
///
/// Items and files have numbers, in order of appearance, instead of ids and URLs, and the clock starts with
/// the session. Bytes of one transfer that arrive within a quarter of a second are one piece: the replay
/// does not model the link more precisely. The first line of the log is missing: the server, which knows
/// the policies, writes it.
public struct SessionRecording: Sendable {
  /// The maximum size in bytes: with the rest of a report, it is within what a page may send when it is
  /// closed.
  public static let limitBytes = ReportLimits.recordBytes

  /// Bytes of a transfer that arrived and are not written yet.
  private struct Piece {
    let since: Int
    var until: Int
    let key: String
    var range: Range<Int>
  }

  private static let pieceMilliseconds = 250
  private static let bandwidthMilliseconds = 1_000

  /// The lines of the log.
  public private(set) var bytes: [UInt8] = []
  /// Whether the next line would have exceeded the limit: later lines are missing.
  public private(set) var isFull = false
  private let origin: Int
  private var items: [ByteText: Int] = [:]
  private var files: [ByteText: Int] = [:]
  private var begun: Set<Int> = []
  private var pieces: [Int: Piece] = [:]
  private var bandwidthAt: Int?

  /// Creates a recording that begins now, on the session's clock.
  public init(at milliseconds: Int) { origin = milliseconds }

  /// Records an event and the actions that the engine returned.
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

  /// Records that a view of an item begins.
  public mutating func note(_ look: SessionLog.Look) {
    var look = look
    look.atMilliseconds = max(0, look.atMilliseconds - origin)
    look.item = number(look.item, in: \.items)
    append(SessionLog.line(look))
  }

  /// Records that a view of an item ends.
  public mutating func noteEnd(
    of item: String, at milliseconds: Int, dwellMilliseconds: Int, waitMilliseconds: Int
  ) {
    // The replay needs all bytes that arrived until now.
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
    // The first piece is written at once: it shows the latency of a request.
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
