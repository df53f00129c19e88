import Feed

/// Builds the top-level elements of a feed, one at a time, and makes records from its items.
final class FeedBuilder: XMLParserDelegate {
  weak var parser: XMLParser?
  var translation: Translation
  private let format: FeedFormat
  private let limitBytes: Int
  private var context = FeedContext()
  /// The number of open elements, including those being built.
  private var depth = 0
  /// The base URLs of the elements around the one being built.
  private var bases: [String?] = []
  /// The elements being built, each nested in the one before it.
  private var open: [XMLElement] = []
  private var pendingText: [UInt8] = []
  private var builtBytes = 0
  private var isTooLong = false
  /// The number of open elements within one that is skipped.
  private var skipped = 0

  private static let depthLimit = 64
  /// The assumed size of an element without its texts.
  private static let elementBytes = 64

  init(_ format: FeedFormat, _ settings: FormatSettings) {
    self.format = format
    limitBytes = settings.recordLimitBytes
    translation = Translation(settings)
  }

  /// The number of elements around an item: `rss` and `channel`, or `feed`.
  private var outerDepth: Int { format == .rss ? 2 : 1 }

  func begin(_ name: XMLName, _ attributes: [XMLName: String], line: Int) {
    defer { depth += 1 }
    if depth == 0 {
      checkRoot(name, attributes)
      context.language = attributes[.language]?.trimmed
    }
    let around = open.last?.base ?? bases.last ?? nil
    let base = Self.base(attributes, around: around)
    guard depth >= outerDepth else {
      bases.append(base)
      if depth == 1, name != XMLName(namespace: .none, local: "channel") { skipped = 1 }
      return
    }
    if skipped > 0 || isTooLong {
      skipped += 1
      return
    }
    endText()
    builtBytes += attributes.reduce(Self.elementBytes + name.local.utf8.count) {
      $0 + $1.key.local.utf8.count + $1.value.utf8.count
    }
    open.append(XMLElement(name: name, attributes: attributes, base: base, line: line))
    if builtBytes > limitBytes || depth > Self.depthLimit { isTooLong = true }
  }

  func end() {
    depth -= 1
    guard depth >= outerDepth else {
      if !bases.isEmpty { bases.removeLast() }
      skipped = 0
      if depth == 0 { finish() }
      return
    }
    if skipped > 0 {
      skipped -= 1
      return
    }
    endText()
    guard let element = open.popLast() else { return }
    if !open.isEmpty {
      if !isTooLong { open[open.count - 1].children.append(.element(element)) }
      return
    }
    take(element)
    (builtBytes, isTooLong) = (0, false)
  }

  func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !open.isEmpty, skipped == 0, !isTooLong else { return }
    builtBytes += bytes.count
    if builtBytes > limitBytes {
      isTooLong = true
      return
    }
    pendingText += bytes
  }

  /// Appends the pending text to the current element. Expat delivers text one line at a time.
  private func endText() {
    guard !pendingText.isEmpty else { return }
    open[open.count - 1].children.append(.text(String(decoding: pendingText, as: UTF8.self)))
    pendingText.removeAll(keepingCapacity: true)
  }

  private static func base(_ attributes: [XMLName: String], around: String?) -> String? {
    let own = attributes[XMLName(namespace: .xml, local: "base")]
    return own.flatMap { WebAddress.resolve($0, base: around) } ?? around
  }

  private func checkRoot(_ name: XMLName, _ attributes: [XMLName: String]) {
    let isRight =
      format == .rss
      ? name == XMLName(namespace: .none, local: "rss")
      : name == XMLName(namespace: .atom, local: "feed")
    if !isRight {
      parser?.stop("the document's root is <\(name.local.prefix(40))>: it is not \(format.title)")
    }
  }

  /// Takes a finished top-level element.
  private func take(_ element: XMLElement) {
    let isItem =
      format == .rss
      ? element.name == XMLName(namespace: .none, local: "item")
      : element.name == XMLName(namespace: .atom, local: "entry")
    if isTooLong {
      if isItem {
        let problem =
          "the item has more than \(limitBytes) bytes, or \(Self.depthLimit) nested elements"
        translation.refuse(problem, line: element.line)
      }
      return
    }
    guard isItem else {
      context.take(element, format)
      return
    }
    do throws(FormatError) {
      let post =
        format == .rss
        ? try RSSItem(element, context).post(translation.settings.timeZone, &translation.omissions)
        : try AtomEntry(element, context).post(
          translation.settings.timeZone, &translation.omissions)
      translation.add(post, line: element.line)
    } catch {
      translation.refuse(error.description, line: element.line)
    }
  }

  private func finish() { translation.title(context.title, line: 1) }
}

/// Properties of a feed that apply to its items.
struct FeedContext {
  /// The feed's title.
  private(set) var title: String?
  /// The feed's URL: the base of references in its items, and a part of their ids.
  private(set) var link: String?
  /// The feed's id, in Atom.
  private(set) var id: String?
  /// The language of items without one.
  fileprivate(set) var language: String?
  /// The author of items without one.
  private(set) var author: XMLElement?

  /// Takes a top-level element of the feed that is not an item.
  mutating func take(_ element: XMLElement, _ format: FeedFormat) {
    guard element.name.namespace == (format == .rss ? .none : .atom) else { return }
    switch element.name.local {
    case "title":
      title = title ?? element.text.map { HTMLText($0).plain }?.trimmed
    case "link":
      let isAlternate = element["rel"] ?? "alternate" == "alternate"
      let reference = format == .rss ? element.text : isAlternate ? element["href"] : nil
      link = link ?? WebAddress.resolve(reference, base: element.base)
    case "id": id = id ?? element.text
    case "language": language = element.text ?? language
    case "author": author = author ?? element
    default: break
    }
  }
}
