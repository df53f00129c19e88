/// Where an item lies in the file, in one number.
struct Place: Hashable, Sendable {
  private let packed: UInt64

  /// Longer items are not kept.
  static let maximumCount = (1 << 24) - 1

  var start: Int { Int(packed >> 24) }
  var count: Int { Int(packed & UInt64(Self.maximumCount)) }

  /// `start` below 2⁴⁰, `count` from 1 to `maximumCount`.
  init(start: Int, count: Int) {
    packed = UInt64(start) << 24 | UInt64(count)
  }

  /// nil where the number is 0, which no place has.
  fileprivate init?(packed: UInt64) {
    guard packed != 0 else { return nil }
    self.packed = packed
  }

  fileprivate static func packed(_ place: Place?) -> UInt64 { place?.packed ?? 0 }
}

/// A place for each post that has one, by the store's numbers, which are dense: pages of a thousand.
struct PlaceTable: Sendable {
  private static let pageBits: Int64 = 10

  private var pages: [Int64: [UInt64]] = [:]

  subscript(post: Int64) -> Place? {
    get {
      guard let page = pages[post >> Self.pageBits] else { return nil }
      return Place(packed: page[Int(post & (1 << Self.pageBits - 1))])
    }
    set {
      let number = post >> Self.pageBits
      if pages[number] == nil {
        guard newValue != nil else { return }
        pages[number] = [UInt64](repeating: 0, count: 1 << Self.pageBits)
      }
      pages[number]?[Int(post & (1 << Self.pageBits - 1))] = Place.packed(newValue)
    }
  }
}
