import Catalog
import Feed
import Synchronization

/// What changed in a model since somebody asked where it is: before that, changes are not looked for.
struct ModelChanges {
  /// Each change, as far as it names what changed; nil before somebody asked.
  var log: [Change]?
  /// How many are gone from the beginning of the log.
  var goneCount = 0
  var keptChanges = 200_000
  var webhooks: [ByteText: WebhookState] = [:]

  enum Change: Hashable {
    case item(ByteText)
    case feed(ByteText, isOther: Bool)
  }

  /// Looks for what a write changed.
  mutating func note(from old: ModelState, to new: ModelState) {
    guard log != nil else { return }
    for id in Set(old.items.keys).union(new.items.keys).sorted() {
      let (was, now) = (old.item(id.text), new.item(id.text))
      if was?.post != now?.post || was?.placements != now?.placements
        || was?.truths != now?.truths || was?.survival != now?.survival
        || old.items[id]?.dueAt != new.items[id]?.dueAt
      {
        log?.append(.item(id))
      }
    }
    let left = Set(old.feeds.keys).subtracting(new.feeds.keys)
    for name in Set(old.feeds.keys).union(new.feeds.keys).sorted() {
      let (was, now) = (old.feeds[name], new.feeds[name])
      if was == nil || now == nil || was?.title != now?.title {
        let isOther = now == nil || was == nil && !left.isEmpty
        log?.append(.feed(name, isOther: isOther))
      }
    }
    let gone = max(0, (log?.count ?? 0) - keptChanges)
    log?.removeFirst(gone)
    goneCount += gone
  }
}

extension ModelStore: ChangeStore {
  private static let source: Int64 = 1

  package func changes(
    after cursor: ChangeCursor?, through end: ChangeCursor?, limit: Int, withItems: Bool
  ) throws -> ChangePage {
    try changeLog.withLock { changes in
      // No older than the log, which is written behind it.
      let state = current.state
      let log = changes.log ?? []
      changes.log = log
      func behind(_ place: Int) -> ChangeCursor {
        ChangeCursor(source: Self.source, first: Int64(changes.goneCount + place), second: 0)
      }
      let now = behind(log.count)
      guard let start = cursor else { return ChangePage(next: now) }
      guard start.source == Self.source else { throw ChangeCursorError.foreign }
      guard start.first >= Int64(changes.goneCount), start.first <= now.first else {
        throw ChangeCursorError.expired
      }
      let first = Int(start.first) - changes.goneCount
      let bound = Int((end ?? now).first) - changes.goneCount
      let last = min(bound, first + limit)
      var page = ChangePage(
        next: last == bound ? end ?? now : behind(last), hasMore: last < bound)
      var seen: Set<ByteText> = []
      var feeds: Set<ByteText> = []
      let others = Set(
        log[first..<last].compactMap { change -> ByteText? in
          guard case .feed(let name, isOther: true) = change else { return nil }
          return name
        })
      for change in log[first..<last].reversed() {
        switch change {
        case .item(let id):
          guard seen.insert(id).inserted else { continue }
          let item = state.item(id.text)
          var told = StoreChange(.item, id.text, item == nil ? .gone : .present)
          if withItems {
            told.item = item.map { StoredItem(post: $0.post, placements: $0.placements) }
          }
          page.changes.append(told)
        case .feed(let name, _):
          guard feeds.insert(name).inserted else { continue }
          let isThere = state.feeds[name] != nil
          page.changes.append(
            StoreChange(
              .feed, name.text, !isThere ? .gone : others.contains(name) ? .replaced : .present))
        }
      }
      page.changes.reverse()
      return page
    }
  }

  /// How many changes are kept.
  package var keptChanges: Int { changeLog.withLock { $0.keptChanges } }

  package func keepChanges(_ count: Int) throws {
    changeLog.withLock { $0.keptChanges = count }
  }

  package func webhooks() throws -> [WebhookState] {
    changeLog.withLock { $0.webhooks.sorted { $0.key < $1.key }.map(\.value) }
  }

  package func save(_ webhook: WebhookState) throws -> Bool {
    changeLog.withLock { changes in
      guard changes.webhooks[webhook.name]?.revision ?? 0 == webhook.revision else { return false }
      var saved = webhook
      saved.revision += 1
      changes.webhooks[webhook.name] = saved
      return true
    }
  }
}
