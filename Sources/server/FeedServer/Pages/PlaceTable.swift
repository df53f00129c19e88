/// Where an item lies in the file, in one number.
struct Place: Hashable, Sendable {
  private let packed: UInt64

  /// What is longer is not kept.
  static let maximumCount = (1 << 24) - 1
  /// A file is no longer than this.
  static let maximumEnd = 1 << 40

  var start: Int { Int(packed >> 24) }
  var count: Int { Int(packed & UInt64(Self.maximumCount)) }
  var range: Range<Int> { start..<start + count }

  /// `start` below `maximumEnd`, `count` from 1 to `maximumCount`.
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
  private static let maximumNumber: Int64 = 1 << 30

  /// Whether a post of this number can have a place: the table is as long as the highest number is.
  static func canHold(_ post: Int64) -> Bool { (0...maximumNumber).contains(post) }

  /// Empty where no post has one.
  private var pages: [[UInt64]] = []

  subscript(post: Int64) -> Place? {
    get {
      let number = post >> Self.pageBits
      guard number >= 0, number < pages.count else { return nil }
      let page = pages[Int(number)]
      return page.isEmpty ? nil : Place(packed: page[Self.index(of: post)])
    }
    set {
      guard Self.canHold(post) else { return }
      let number = Int(post >> Self.pageBits)
      if number >= pages.count || pages[number].isEmpty {
        guard newValue != nil else { return }
        while pages.count <= number { pages.append([]) }
        pages[number] = [UInt64](repeating: 0, count: 1 << Self.pageBits)
      }
      pages[number][Self.index(of: post)] = Place.packed(newValue)
    }
  }

  private static func index(of post: Int64) -> Int { Int(post & (1 << pageBits - 1)) }
}
