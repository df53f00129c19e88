extension Fields: RandomAccessCollection {
  /// The index of the first field.
  public var startIndex: Int { 0 }
  /// One past the last field.
  public var endIndex: Int { entries.count }

  /// A field line's name, as it was written, and value.
  public subscript(index: Int) -> (name: String, value: String) {
    (text(entries[index].name), text(entries[index].value))
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// The fields in the order in which they are written; a name may come more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { append(name, value) }
  }
}

extension Fields: Equatable {
  /// Same names but for case, same values, same order.
  public static func == (left: Fields, right: Fields) -> Bool {
    left.elementsEqual(right) {
      $0.value == $1.value
        && $0.name.utf8.elementsEqual($1.name.utf8) {
          $0.asciiLowercased == $1.asciiLowercased
        }
    }
  }
}

extension Fields: CustomStringConvertible {
  /// One field a line.
  public var description: String {
    map { "\($0.name): \($0.value)" }.joined(separator: "\n")
  }
}
