import Feed

/// A mapping from a column of a CSV, or a value of a JSON object, to a field of a post.
package struct ColumnMapping: Hashable, Sendable {
  /// The column's name in the header, or the path to the value (`JSONMapping`).
  package let column: String
  /// The field of the post.
  package let field: ColumnField

  /// Parses `column=field`, in which the last `=` separates; or `field=path`, if only the part before
  /// the first `=` is a field.
  ///
  /// - Throws: `ColumnMappingError`.
  package init(_ text: String) throws(ColumnMappingError) {
    guard let first = text.firstIndex(of: "="), let last = text.lastIndex(of: "=") else {
      throw ColumnMappingError(description: "\"\(text)\" is not column=field or field=path")
    }
    if let column = text[..<last].trimmed, let name = text[text.index(after: last)...].trimmed,
      let field = ColumnField(name)
    {
      (self.column, self.field) = (column, field)
    } else if let path = text[text.index(after: first)...].trimmed,
      let name = text[..<first].trimmed, let field = ColumnField(name)
    {
      (column, self.field) = (path, field)
    } else {
      throw ColumnMappingError(
        description: "\"\(text)\" names no field; the fields are \(ColumnField.known)")
    }
  }
}

/// A text that is not a valid mapping.
package struct ColumnMappingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem, as a sentence without a full stop.
  package let description: String
}

/// A field of a post to which a column or a value can be mapped; records use the same names.
package enum ColumnField: Hashable, Sendable {
  case id, type, title, text, language, publishedAt, authorID, authorName, authorAvatar, url
  case thumbnail, tags, feed, rank, visibleFrom, visibleUntil
  /// The counter with this name.
  case counter(String)
  /// The member of `extra` with this name, as a string.
  case extra(String)
  /// A part of the post's file at this index, from 0.
  case media(Int, MediaPart)

  /// A part of a file.
  package enum MediaPart: String, CaseIterable, Sendable {
    case url, kind, alt, poster, mimeType, codec, width, height, bytes
    case duration = "durationMs"
  }

  private static let byName: [String: ColumnField] = [
    "id": .id, "type": .type, "title": .title, "text": .text, "language": .language,
    "publishedAt": .publishedAt, "author.id": .authorID, "author.name": .authorName,
    "author.avatar": .authorAvatar, "url": .url, "thumbnail": .thumbnail, "tags": .tags,
    "feed": .feed, "rank": .rank, "visibleFrom": .visibleFrom, "visibleUntil": .visibleUntil,
  ]

  /// The names of all fields, for error messages.
  static let known =
    "id, type, title, text, language, publishedAt, author.id, author.name, author.avatar, url, "
    + "thumbnail, tags, feed, rank, visibleFrom, visibleUntil, counters.NAME, extra.NAME, and media.PART or "
    + "media[N].PART, where PART is "
    + MediaPart.allCases.map(\.rawValue).joined(separator: ", ")

  /// Creates the field with this name: `title`, `counters.likes`, `media.url`, `media[2].url`.
  init?(_ name: String) {
    if let field = Self.byName[name] {
      self = field
    } else if name.hasPrefix("counters."), name.utf8.count > 9 {
      self = .counter(String(name.dropFirst(9)))
    } else if name.hasPrefix("extra."), name.utf8.count > 6 {
      self = .extra(String(name.dropFirst(6)))
    } else if let match = name.wholeMatch(of: /media(?:\[([0-9]{1,2})\])?\.(\w+)/),
      let part = MediaPart(rawValue: String(match.output.2))
    {
      self = .media(match.output.1.flatMap { Int($0) } ?? 0, part)
    } else {
      return nil
    }
  }
}
