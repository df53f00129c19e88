import Feed

/// What happened, as the engine's client tells it. An event about an item, a file or a transfer that the
/// engine does not know changes nothing but the time, unless its case says otherwise.
///
/// Of several that happen at one moment the order makes little difference. Carry out what all of them are answered with, in
/// order, before more of the network or the player is told.
public enum PrefetchEvent: Hashable, Sendable, Codable {
  /// A page is there. Items that the list has already are brought up to date where they are.
  case pageArrived(PrefetchPlace, items: [PrefetchItem], hasPrevious: Bool, hasNext: Bool)
  /// A page that was asked for does not come; `nil` if the server did not say when to ask again.
  case pageFailed(PrefetchPlace, retryAfterMilliseconds: Int?)
  /// These items are no longer in the feed.
  case itemsRemoved([String])
  /// The list has these items in this order, and no others: its ranking changed.
  case itemsReordered([String])
  /// The person looks at this item. Until the first such event it is the list's first one. An item that no page has brought
  /// yet becomes the active one when a page does.
  case activeChanged(String)
  /// The list scrolls: its speed in thousandths of items a second, below zero if it goes up, 0 if it came
  /// to rest; and where it will stop, in items from the active one, where that is known.
  case scrolled(milliitemsPerSecond: Int, stopDistance: Int?)
  /// The client has these bytes of a file already, in a store of its own.
  case bytesFound(key: String, [Range<Int>])
  /// Bytes of a transfer have arrived, and lie in the client's store now. Also those that arrive after the
  /// transfer was cancelled, and those beyond its range that came all the same.
  case bytesArrived(transfer: Int, key: String, Range<Int>)
  /// A file's size turned out to be this.
  case sizeLearned(key: String, bytes: Int)
  /// All bytes of a transfer have arrived, or no more do: what is missing of its range is asked for again after a while.
  case transferFinished(Int)
  /// A transfer ended before that.
  case transferFailed(Int, TransferFailure)
  /// A transfer's bandwidth in kilobits (1000 bits) a second, and a round trip, if one was measured. Of the bytes while they
  /// arrive: the round trip before the first one is not part of the time, or short transfers make the link look slow.
  /// `LinkMeter` measures both.
  case bandwidthMeasured(kilobitsPerSecond: Int, roundTripMilliseconds: Int?)
  /// The active item plays or stands at this time of it. Where it plays, the engine takes it to play on until it is told
  /// otherwise: a few a second, or one at each change, are enough.
  case playbackMoved(milliseconds: Int, Playback)
  /// The network is another one, came or went.
  case networkChanged(isOnline: Bool, isMetered: Bool)
  /// The person wants data saved, or no longer.
  case saveDataChanged(Bool)
  /// The device is hot, its battery low, or it is no longer.
  case stressChanged(Bool)
  /// The app is out of sight, or back.
  case backgroundChanged(Bool)
  /// The system wants memory back.
  case memoryWarned
  /// The time that `waitUntil` named has come.
  case timerFired

  /// How a clip stands. It is paused by the person, or because what comes next is missing: the engine tells the two apart by
  /// what is held. It waits while nothing of it shows, since what is held is not enough for its first frame: where that
  /// should be held, the engine loads more of others.
  public enum Playback: String, CaseIterable, Hashable, Sendable, Codable {
    case playing, paused, ended, waiting
  }
}

/// Why a transfer ended before its time.
public enum TransferFailure: Hashable, Sendable, Codable {
  /// The connection broke, or nothing came for too long: again after a while.
  case network
  /// The server cannot now: again after so long, where it said how long.
  case busy(retryAfterMilliseconds: Int?)
  /// There is no such file, or it may not be read: not again.
  case gone
  /// The file is another one than what is held of it: all of that is of no use.
  case changed
}
