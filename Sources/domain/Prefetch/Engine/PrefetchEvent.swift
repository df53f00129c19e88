import Feed

/// An event that the client reports to the engine. An event about an item, a file or a transfer that the
/// engine does not know changes nothing but the time, unless its case says otherwise.
///
/// The order of simultaneous events makes little difference. Carry out the actions of all of them, in order,
/// before reporting more of the network or the player.
public enum PrefetchEvent: Hashable, Sendable, Codable {
  /// A page arrived. Items that the list already has are updated in place.
  case pageArrived(PrefetchPlace, items: [PrefetchItem], hasPrevious: Bool, hasNext: Bool)
  /// A requested page failed; `nil` if the server did not say when to retry.
  case pageFailed(PrefetchPlace, retryAfterMilliseconds: Int?)
  /// These items are no longer in the feed.
  case itemsRemoved([String])
  /// The list's ranking changed: it has these items in this order, and no others.
  case itemsReordered([String])
  /// The person looks at this item. Before the first such event, the list's first item is active. An item
  /// that no page has brought yet becomes active when a page brings it.
  case activeChanged(String)
  /// The list scrolls: its speed in thousandths of items a second, negative for up, 0 at rest; and the place
  /// where it will stop, in items from the active one, if known.
  case scrolled(milliitemsPerSecond: Int, stopDistance: Int?)
  /// The client's own store holds these bytes of a file.
  case bytesFound(key: String, [Range<Int>])
  /// Bytes of a transfer have arrived and are in the client's store. Report also bytes that arrive after the
  /// transfer was cancelled, and bytes beyond its range.
  case bytesArrived(transfer: Int, key: String, Range<Int>)
  /// A file's size became known.
  case sizeLearned(key: String, bytes: Int)
  /// A transfer ended: all of its bytes have arrived, or no more will. The engine requests missing bytes of
  /// its range again after a while.
  case transferFinished(Int)
  /// A transfer failed before its end.
  case transferFailed(Int, TransferFailure)
  /// A transfer's bandwidth in kilobits (1000 bits) a second, and a round trip if one was measured. Measure
  /// the bandwidth while bytes arrive: if its time includes the round trip before the first byte, short
  /// transfers make the link look slow. `LinkMeter` measures both.
  case bandwidthMeasured(kilobitsPerSecond: Int, roundTripMilliseconds: Int?)
  /// The active clip's position and state. The engine assumes that a playing clip continues until the next
  /// such event: a few a second, or one at each change, are enough.
  case playbackMoved(milliseconds: Int, Playback)
  /// The network changed, came or went.
  case networkChanged(isOnline: Bool, isMetered: Bool)
  /// The person turned data saving on or off.
  case saveDataChanged(Bool)
  /// The device is hot or low on power, or no longer is.
  case stressChanged(Bool)
  /// The app is in the background, or in the foreground again.
  case backgroundChanged(Bool)
  /// The system asks for memory.
  case memoryWarned
  /// The time that `waitUntil` named has come.
  case timerFired

  /// The state of a clip. `paused` is by the person or for lack of bytes: the engine tells the two apart by
  /// the held bytes. `waiting` is for lack of bytes of the first frame, while nothing shows: if those bytes
  /// should be held, the engine loads more of other clips.
  public enum Playback: String, CaseIterable, Hashable, Sendable, Codable {
    case playing, paused, ended, waiting
  }
}

/// The reason why a transfer failed.
public enum TransferFailure: Hashable, Sendable, Codable {
  /// The connection broke, or nothing arrived for too long. The engine retries after a while.
  case network
  /// The server is busy. The engine retries after this delay, if the server gave one.
  case busy(retryAfterMilliseconds: Int?)
  /// The file does not exist, or may not be read. The engine does not retry.
  case gone
  /// The file is not the one whose bytes are held: all of these are useless.
  case changed
}
