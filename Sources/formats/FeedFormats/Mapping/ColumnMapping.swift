import Feed

/// Which field of a post a column of a CSV is, or a value of a JSON object.
package struct ColumnMapping: Hashable, Sendable {
  /// What the header calls it, or the path to it (`JSONMapping`).
  package let column: String
  /// What it is of a post.
  package let field: ColumnField

  /// A mapping written as `column=field`, of which the last `=` counts, or as `field=path` where only what stands
  /// in front is a field.
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

/// A text that is no mapping.
package struct ColumnMappingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, as a sentence without its end.
  package let description: String
}

/// A field of a post that a column or a value can be; records call it the same.
package enum ColumnField: Hashable, Sendable {
  case id, type, title, text, language, publishedAt, authorID, authorName, authorAvatar, url
  case thumbnail, tags, feed, rank, visibleFrom, visibleUntil
  /// A counter of this name.
  case counter(String)
  /// A member of `extra` of this name, as a text.
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

  /// What there is, for the person who asked for another.
  static let known =
    "id, type, title, text, language, publishedAt, author.id, author.name, author.avatar, url, "
    + "thumbnail, tags, feed, rank, visibleFrom, visibleUntil, counters.NAME, extra.NAME, and media.PART or "
    + "media[N].PART, where PART is "
    + MediaPart.allCases.map(\.rawValue).joined(separator: ", ")

  /// The field of this name: `title`, `counters.likes`, `media.url`, `media[2].url`.
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
