/// Why the engine wants something done: numbers, which the description puts in words.
public enum PrefetchReason: Hashable, Sendable, Codable {
  /// The active item lacks so many bytes to start.
  case activeStart(missingBytes: Int)
  /// The active item is loaded to its end; `nil` where its size is not known.
  case activeRest(missingBytes: Int?)
  /// The item is among those which the strategy loads ahead: so many items from the active one, below zero
  /// above it.
  case near(distance: Int, bytes: Int)
  /// The same, and with it the weights of those that load ahead add up to this much of what is allowed.
  case weighed(distance: Int, cost: Int, maxCost: Int)
  /// The item is in a range of the screen, so many items away.
  case inRange(ScreenRange, distance: Int)
  /// So much of the clip is loaded, for it is so near.
  case stage(distance: Int, milliseconds: Int)
  /// The fling stops here, so many items from where it began.
  case target(distance: Int)
  /// To wait one more step costs so much expected waiting, with this chance that the part is needed; per
  /// megabyte, against the price, which counts as far as the part may not be needed.
  case expectedWait(
    distance: Int, bytes: Int, waitMilliseconds: Int, chancePercent: Int,
    millisecondsPerMegabyte: Int, price: Int)
  /// The item is no longer among those to be loaded.
  case outOfWindow(distance: Int)
  /// What it was to bring is there.
  case enough
  /// The active item needs the link.
  case yields
  /// It is wanted again.
  case wantedAgain(distance: Int)
  /// The item's addresses are good no longer.
  case expired
  /// No more may be loaded ahead than so many bytes.
  case allowance(bytes: Int, Restraint?)
  /// Nothing is loaded while nobody can see it.
  case background
  /// There is no network.
  case offline
  /// Its item has left the list.
  case gone
  /// So many items of the list were seen, of the newest page's so many: that is the strategy's share.
  case share(seen: Int, of: Int, percent: Int)
  /// So many items are left below, which are those that the strategy wants to have.
  case itemsLeft(Int)
  /// The end of the list is reached.
  case end
  /// The scroll will stop at a place that is not in the list.
  case stopOutside(distance: Int)
  /// So many bytes of so many that it takes to start are there.
  case bytes(held: Int, needed: Int)
  /// The decoder has had its time.
  case decoded(milliseconds: Int)
  /// More is held than the limit.
  case full(heldBytes: Int, limitBytes: Int)
  /// More files are held than the limit.
  case files(Int, limit: Int)
  /// The system asked for memory.
  case memoryWarning
  /// The file is another one now.
  case changed
  /// A part is due at that time, not before.
  case due
  /// The decoder will be done.
  case decoding
  /// It failed so often: another attempt then.
  case retry(attempts: Int)
  /// An address is good until then.
  case expiry

  /// Whose speculation is bounded by what.
  public enum Restraint: String, Hashable, Sendable, Codable {
    case saveData, metered, stress, budget
  }

  /// The ranges of a range controller.
  public enum ScreenRange: String, Hashable, Sendable, Codable {
    case visible, display, preload
  }
}
