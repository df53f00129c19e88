import RowStore

/// What statements that write are given for their question marks.
///
/// Each value is bound as it is: GRDB makes a list of values of them and finds out about each at run time, which
/// took a fifth of what writing took.
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
