/// What our strategy wants of clips over a link that carries one transfer at a time.
///
/// There nothing overtakes what is under way, so that clips come in pieces of a second, and it is decided anew with each
/// one. Three things compete for the next: the clip that plays, which stands when its buffer runs out; the starts of the
/// next clips, which are waited for if the person goes on; and no bytes at all, for who goes on does not need the rest.
///
/// People mind that a clip stops more than for how long: a clip that was waited for or has stopped is spoilt, and the
/// time that the link has is better spent on those to come. So the clip that plays has a buffer that outlasts a piece of
/// it behind a piece of another, until it stands for the first time; from then on one that hardly outlasts its own.
extension ExpectedWaitStrategy {
  private static let pieceMilliseconds = 1_000
  /// How many pieces of the next clips are loaded, the nearest first: one of each, then a second of each, and so on.
  private static let piecesAhead = [4, 3]
  /// The buffer of the clip that plays is what a player wants and so many hundredths of the time that its next piece
  /// takes, until it has stood for the first time, and from then on.
  private static let pieceTimes = (untouched: 140, spoilt: 25)
  /// A clip that stands for the first time is as bad as so much waiting.
  private static let standstillMilliseconds = 2_000
  /// A piece is worth the more, the likelier it plays so soon.
  private static let soonMilliseconds = 10_000

  /// Whether clips are loaded piece by piece: the one that plays, and the next ones.
  func loadsPieces(_ facts: EngineFacts, _ active: Int) -> Bool {
    facts.settings.parallelTransfers == 1 && !passesActive(facts)
      && facts.next(Self.piecesAhead.count, from: active, with: true)
        .allSatisfy { facts.clip($0) != nil }
  }

  /// The next piece that is wanted, and what goes on meanwhile.
  func pieceWants(_ facts: EngineFacts, _ active: Int, _ wake: inout Wake) -> [Want] {
    if let piece = nextPiece(of: active, facts) {
      let left =
        min(piece.index * Self.pieceMilliseconds, piece.clip.milliseconds)
        - facts.playedMilliseconds
      let times = facts.viewer.hasStood ? Self.pieceTimes.spoilt : Self.pieceTimes.untouched
      let took = facts.network.milliseconds(piece.bytes) + facts.network.roundTripMilliseconds
      let buffer = EngineFacts.playerBufferMilliseconds + took * times / 100
      if left <= 0 || left < buffer && isWorth(piece, active, facts) {
        return [want(piece, of: active, facts, .activeRest(missingBytes: piece.bytes))]
      }
      // Later it is due, or they stay all the same.
      let due = left < buffer ? futures.goodUntil : facts.now + left - buffer
      wake.at(max(facts.now + Self.shortestIdleMilliseconds, due), .due)
    }
    guard facts.allowance.bytes > 0 else { return [] }
    let next = facts.next(min(leading, Self.piecesAhead.count), from: active)
    if let running = facts.running(next) { return [running] }
    for count in 1...(Self.piecesAhead.max() ?? 1) {
      for (position, most) in zip(next, Self.piecesAhead) where count <= most {
        guard let piece = nextPiece(of: position, facts), piece.index < count,
          isWorth(piece, position, facts)
        else { continue }
        let reason = PrefetchReason.near(distance: position - active, bytes: piece.bytes)
        return [want(piece, of: position, facts, reason)]
      }
    }
    wake.at(max(facts.now + Self.shortestIdleMilliseconds, futures.goodUntil), .due)
    return []
  }

  /// A second of a clip, the first that is not held.
  private struct Piece {
    let clip: (file: FileState, milliseconds: Int)
    let index: Int
    let end: Int
    /// What of it is missing.
    let bytes: Int
  }

  private func nextPiece(of position: Int, _ facts: EngineFacts) -> Piece? {
    guard let clip = facts.clip(position) else { return nil }
    let (held, all) = facts.parts(of: clip, each: Self.pieceMilliseconds)
    guard held < all else { return nil }
    let end = facts.corrected(
      facts.end(ofPart: held, of: clip, each: Self.pieceMilliseconds), of: clip.file.file.load)
    return Piece(clip: clip, index: held, end: end, bytes: max(0, end - clip.file.held.prefix))
  }

  private func want(
    _ piece: Piece, of position: Int, _ facts: EngineFacts, _ reason: PrefetchReason
  ) -> Want {
    Want(position: position, amount: .bytes(media: 0, 0..<piece.end), reason: reason)
  }

  /// Whether the standstill that a piece may spare weighs no less than its bytes, which may not be needed, at the price.
  private func isWorth(_ piece: Piece, _ position: Int, _ facts: EngineFacts) -> Bool {
    let isActive = position == facts.viewer.active
    var (soon, unneeded) = (0, futures.count)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      guard let visit = visits.first(where: { $0.position == position }) else { continue }
      let plays =
        piece.index * Self.pieceMilliseconds
        + (isActive ? facts.now - facts.playedMilliseconds : visit.at)
      guard plays < visit.at + visit.dwell else { continue }
      unneeded -= 1
      if plays < facts.now + Self.soonMilliseconds { soon += 1 }
    }
    let worth = Double(soon * Self.standstillMilliseconds) * 1e6
    return soon > 0 && worth >= Double(unneeded * piece.bytes) * Double(price(facts))
  }
}
