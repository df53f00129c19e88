/// The reason for an action, in numbers; the description puts them in words.
public enum PrefetchReason: Hashable, Sendable, Codable {
  /// The active item lacks this number of bytes to start.
  case activeStart(missingBytes: Int)
  /// The active item is loaded to its end; `nil` if its size is unknown.
  case activeRest(missingBytes: Int?)
  /// The item is among those that the strategy loads ahead, at this distance from the active one, negative
  /// above it.
  case near(distance: Int, bytes: Int)
  /// The same; with it, the weights of the items that load ahead add up to this cost, of this maximum.
  case weighed(distance: Int, cost: Int, maxCost: Int)
  /// The item is in a range of the screen, at this distance.
  case inRange(ScreenRange, distance: Int)
  /// This much of the clip is loaded at this distance.
  case stage(distance: Int, milliseconds: Int)
  /// The fling stops here, at this distance from where it began.
  case target(distance: Int)
  /// Waiting one more step costs this expected waiting; the item's turn comes with this chance. The cost for
  /// a megabyte is no less than `price`: the strategy's price, times the chance that the item is not needed,
  /// times the share of that chance that is resolved within the step; less for a running transfer.
  case expectedWait(
    distance: Int, bytes: Int, waitMilliseconds: Int, chancePercent: Int,
    millisecondsPerMegabyte: Int, price: Int)
  /// A transfer of the item is running and will be in time: to stop and begin again costs round trips.
  case underWay(distance: Int, bytes: Int)
  /// The item is no longer among those to be loaded.
  case outOfWindow(distance: Int)
  /// The bytes that the transfer was to bring are held.
  case enough
  /// The active item needs the link.
  case yields
  /// The item is wanted again.
  case wantedAgain(distance: Int)
  /// The item's addresses have expired.
  case expired
  /// No more bytes than these may be loaded ahead.
  case allowance(bytes: Int, Restraint?)
  /// Nothing is loaded while the app is in the background.
  case background
  /// There is no network.
  case offline
  /// The item has left the list.
  case gone
  /// The strategy's share of the items, of the list or of the newest page, has been seen.
  case share(seen: Int, of: Int, percent: Int)
  /// This number of items is left below: the strategy wants to have more.
  case itemsLeft(Int)
  /// The end of the list is reached.
  case end
  /// The scroll will stop outside the list, at this distance.
  case stopOutside(distance: Int)
  /// The number of held bytes, and of the bytes needed to start.
  case bytes(held: Int, needed: Int)
  /// The decoder has had its time.
  case decoded(milliseconds: Int)
  /// More bytes are held than the limit.
  case full(heldBytes: Int, limitBytes: Int)
  /// More files are held than the limit.
  case files(Int, limit: Int)
  /// The system asked for memory.
  case memoryWarning
  /// The file has changed.
  case changed
  /// Nothing is due before that time.
  case due
  /// The decoder will be done at that time.
  case decoding
  /// This number of attempts failed: the next one is at that time.
  case retry(attempts: Int)
  /// An address expires at that time.
  case expiry

  /// A restraint on the bytes that are loaded ahead.
  public enum Restraint: String, Hashable, Sendable, Codable {
    case saveData, metered, stress, budget
  }

  /// The ranges of a range controller.
  public enum ScreenRange: String, Hashable, Sendable, Codable {
    case visible, display, preload
  }
}

extension PrefetchReason: CustomStringConvertible {
  /// For example `41 KB of the item 2 below: 0.31 s of waiting at 62 %, 4.70 s a megabyte, no less than the
  /// price of 1.50`.
  public var description: String {
    switch self {
    case .activeStart(let missing): "\(size(missing)) of the active item's start are missing"
    case .activeRest(let missing?): "the active item's other \(size(missing))"
    case .activeRest(nil): "the active item to its end, which is not known"
    case .near(let distance, let bytes): "\(size(bytes)) of the item \(place(distance))"
    case .weighed(let distance, let cost, let most):
      "the item \(place(distance)): the total cost becomes \(cost) of at most \(most)"
    case .inRange(let range, let distance): "the item \(place(distance)), in the \(range) range"
    case .stage(let distance, let milliseconds):
      "\(seconds(milliseconds)) of the item \(place(distance))"
    case .target(let distance): "the scroll stops at the item \(place(distance))"
    case .expectedWait(let distance, let bytes, let wait, let chance, let ratio, let price):
      "\(size(bytes)) of the item \(place(distance)): \(seconds(wait)) of waiting at \(chance) %, "
        + "\(seconds(ratio)) a megabyte, no less than the price of \(hundredths(price))"
    case .underWay(let distance, let bytes):
      "\(size(bytes)) of the item \(place(distance)), which is under way and in time"
    case .outOfWindow(let distance): "the item \(place(distance)) is no longer loaded ahead"
    case .enough: "all its wanted bytes are held"
    case .yields: "the active item needs the link"
    case .wantedAgain(let distance): "the item \(place(distance)) is wanted again"
    case .expired: "the item's URLs have expired"
    case .allowance(let bytes, let restraint):
      "no more than \(size(bytes)) may be loaded ahead" + (restraint.map { " (\($0))" } ?? "")
    case .background: "the app is in the background"
    case .offline: "there is no network"
    case .gone: "the item has left the list"
    case .share(let seen, let all, let percent): "\(seen) of \(all) items seen: \(percent) %"
    case .itemsLeft(let count): "\(count) items are left below"
    case .end: "the end of the list is reached"
    case .stopOutside(let distance): "the scroll stops \(place(distance)), outside of the list"
    case .bytes(let held, let needed): "\(size(held)) of \(size(needed)) are there"
    case .decoded(let milliseconds): "the decoder had its \(milliseconds) ms"
    case .full(let held, let limit): "\(size(held)) are held, more than \(size(limit))"
    case .files(let count, let limit): "\(count) files are held, more than \(limit)"
    case .memoryWarning: "the system wants memory back"
    case .changed: "the file has changed"
    case .due: "nothing is due before"
    case .decoding: "the decoder is done then"
    case .retry(let attempts): "attempt \(attempts) failed"
    case .expiry: "a URL expires then"
    }
  }

  private func place(_ distance: Int) -> String {
    switch distance {
    case 0: "at hand"
    case 1...: "\(distance) below"
    default: "\(distance.magnitude) above"
    }
  }

  private func size(_ bytes: Int) -> String {
    bytes < 10_000
      ? "\(bytes) B"
      : bytes < 10_000_000 ? "\((bytes + 500) / 1_000) KB" : "\((bytes + 500_000) / 1_000_000) MB"
  }

  private func seconds(_ milliseconds: Int) -> String { hundredths(milliseconds) + " s" }

  /// Thousandths as a decimal number with two places.
  private func hundredths(_ thousandths: Int) -> String {
    let rounded = (Int(thousandths.magnitude) + 5) / 10
    let digits = String(rounded % 100)
    return (thousandths < 0 ? "−" : "") + "\(rounded / 100)."
      + (digits.count == 1 ? "0" + digits : digits)
  }
}
