import Feed

extension TestRandom {
  /// A text as records may hold it.
  package mutating func recordText() -> String? {
    guard !once(in: 3) else { return nil }
    let text = String(text(1...30).unicodeScalars.filter { $0 != "\0" }.map(Character.init))
    return text.isEmpty ? nil : text
  }

  /// A name: not empty, no control characters, and none equal to another of its `index`.
  package mutating func recordName(_ index: Int = 0) -> String {
    let scalars = text(0...10).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
    return "\(index)" + String(String.UnicodeScalarView(scalars))
  }

  /// A post with anything that one can have; one that is visible today.
  package mutating func post() -> Post {
    func perhaps(_ range: ClosedRange<Int>) -> Int? {
      once(in: 2) ? nil : number(range)
    }
    func list<Element>(_ make: (Int) -> Element) -> [Element] {
      once(in: 2) ? [] : (0..<number(1...5)).map(make)
    }
    return Post(
      id: recordName(), type: one(of: PostType.allCases), title: recordText(),
      text: recordText(), language: one(of: [nil, "en", "pt-BR", "zh-Hant-TW"]),
      publishedAt: perhaps(-62_167_219_200_000_000...253_402_300_799_999_999).map {
        Timestamp(microseconds: Int64($0))
      },
      visibleFrom: perhaps(-62_167_219_200_000_000...1_700_000_000_000_000).map {
        Timestamp(microseconds: Int64($0))
      },
      visibleUntil: perhaps(32_503_680_000_000_000...253_402_300_799_999_999).map {
        Timestamp(microseconds: Int64($0))
      },
      author: recordAuthor(),
      url: recordURL(), thumbnail: recordURL(),
      tags: list { _ in recordText() }.compactMap { $0 },
      counters: list {
        Counter(recordName($0), number(-RecordLimits.number...RecordLimits.number))
      },
      extra: recordExtra(),
      media: list { _ in
        Media(
          kind: one(of: MediaKind.allCases), url: "/-\(recordName())", alt: recordText(),
          poster: recordURL(), mimeType: recordText(),
          codec: recordText(), width: perhaps(1...RecordLimits.pixels),
          height: perhaps(1...RecordLimits.pixels),
          durationMilliseconds: perhaps(0...RecordLimits.number),
          bytes: perhaps(0...RecordLimits.fileBytes), placeholder: recordPlaceholder(),
          extra: recordExtra())
      })
  }

  /// A path, or a URL of any scheme, of characters that none may hold, too.
  private mutating func recordURL() -> String? {
    recordText().map { one(of: ["/-", "https://media.example/", "x-y.z+1:"]) + $0 }
  }

  private mutating func recordAuthor() -> Author? {
    let author = Author(
      id: once(in: 3) ? nil : recordName(), name: recordText(), avatar: recordURL(),
      extra: recordExtra())
    return author == Author() ? nil : author
  }

  /// What no reader of ours understands, in forms that a reader might change.
  private mutating func recordExtra() -> Extra? {
    guard once(in: 3) else { return nil }
    let values = [
      "1e999", "-0", "1.10", "123456789012345678901234567890", "null", "[]", "{}",
      #""\u00e9\/\u0000""#, #"" [ {\" ""#, #"{"b":[1,{"a":2.0}]}"#,
    ]
    let members = (0..<number(1...4)).map {
      "\"\(one(of: ["z", "é", "a b"]))\($0)\":\(one(of: values))"
    }
    return Extra(checkedJSON: "{\(members.joined(separator: ","))}")
  }

  private mutating func recordPlaceholder() -> MediaPlaceholder? {
    let placeholder = MediaPlaceholder(
      thumbHash: once(in: 2)
        ? nil : (0..<number(5...25)).map { _ in UInt8(number(0...255)) },
      color: once(in: 2) ? nil : .init(red: 1, green: 0xa0, blue: UInt8(number(0...255))))
    return placeholder == MediaPlaceholder() ? nil : placeholder
  }
}
