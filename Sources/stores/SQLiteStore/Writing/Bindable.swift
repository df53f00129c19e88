import RowStore

/// A value that can be bound to a question mark of a statement that writes.
///
/// Each value is bound directly. GRDB instead makes a list of values and determines the type of each at run
/// time, which took a fifth of the time of writing.
protocol Bindable {
  /// Binds the value to the `index`-th question mark, from 1.
  ///
  /// - Throws: `DatabaseError`.
  func bind(to statement: RowReader, at index: Int) throws
}

extension Int: Bindable {
  func bind(to statement: RowReader, at index: Int) throws {
    try statement.bind(Int64(self), at: index)
  }
}

extension Int64: Bindable {
  func bind(to statement: RowReader, at index: Int) throws { try statement.bind(self, at: index) }
}

extension String: Bindable {
  func bind(to statement: RowReader, at index: Int) throws { try statement.bind(self, at: index) }
}

extension Optional: Bindable where Wrapped: Bindable {
  /// Binds nil as NULL.
  func bind(to statement: RowReader, at index: Int) throws {
    if let self {
      try self.bind(to: statement, at: index)
    } else {
      try statement.bind(nil, at: index)
    }
  }
}

extension ColumnValue: Bindable {
  func bind(to statement: RowReader, at index: Int) throws {
    switch self {
    case .text(let text): try text.bind(to: statement, at: index)
    case .integer(let number): try statement.bind(number, at: index)
    }
  }
}
