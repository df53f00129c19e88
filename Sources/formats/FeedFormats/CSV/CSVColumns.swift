import Feed

/// Maps the columns of a table to fields of posts.
struct CSVColumns {
  private let count: Int
  private let fields: [(index: Int, field: ColumnField)]
  private let unmapped: Int

  /// Maps the columns of a header.
  init(header: [String], _ mappings: [ColumnMapping]) throws(FormatError) {
    let names = header.map { $0.trimmed ?? "" }
    let known = names.prefix(40).joined(separator: ", ")
    guard !mappings.isEmpty else {
      throw FormatError(
        "--map column=field is required; the columns are \(known)")
    }
    var fields: [(Int, ColumnField)] = []
    for mapping in mappings {
      guard let index = names.firstIndex(where: { $0.utf8.elementsEqual(mapping.column.utf8) })
      else {
        throw FormatError(
          "there is no column \"\(mapping.column)\"; the columns are \(known); the fields are "
            + ColumnField.known)
      }
      fields.append((index, mapping.field))
    }
    count = header.count
    unmapped = Set(0..<header.count).subtracting(fields.map(\.0)).count
    self.fields = fields
  }

  /// Adds the record of a row to the translation.
  func translate(_ row: [String], line: Int, _ translation: inout Translation) {
    guard row.count == count else {
      translation.refuse("the row has \(row.count) fields, the header \(count)", line: line)
      return
    }
    do throws(FormatError) {
      var draft = MappedPost(
        feed: translation.settings.feed, zone: translation.settings.timeZone)
      for (index, field) in fields {
        if let text = row[index].trimmed { try draft.set(field, text) }
      }
      let (post, placements) = try draft.record(
        .csv, identity: row.joined(separator: "\u{0}"), &translation.omissions)
      translation.add(post, placements, line: line)
      translation.omissions.add(.column, unmapped)
    } catch {
      translation.refuse(error.description, line: line)
    }
  }
}
