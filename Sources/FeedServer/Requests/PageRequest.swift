import Feed
import HTTP
import Prefetch

/// A text that is no cursor, and the parameter in which it stood.
struct CursorError: Error, CustomStringConvertible {
  let parameter: String
  let cause: CursorTextError

  var description: String {
    switch cause {
    case .damaged: "The parameter \(parameter) is not a cursor that this server handed out."
    case .unknownVersion(let version):
      "The cursor in \(parameter) has the form \(version), which this server does not know."
    }
  }
}

/// A request for a page: what the parameters of its query say, and the fields of its head. What they mean
/// depends on the networks that there are.
final class PageRequest: Sendable {
  /// Every parameter of a page but `feed`, which is in the path of one of the routes.
  static let parameters =
    ["limit", "offset", "after", "before", "around", "leading", "trailing"]
    + NetworkChoice.parameters + ["saveData", "budget", "width"]

  static let limits = 1...100
  static let defaultLimit = 30
  static let offsets = 0...RecordLimits.number
  static let budgets = 0...RecordLimits.number
  static let widths = 1...16_384
  /// `around` alone shows a page of the default size, twice as much below as above.
  static let defaultTrailing = (defaultLimit - 1) / 3

  let query: PageQuery
  let network: NetworkChoice
  let bounds: PlanBounds
  /// Asked for by the compact route, to which its links lead then.
  let isCompact: Bool
  /// The request's fields that the page depends on.
  let varyingFields: VaryingFields
  let parameters: Parameters
  /// Whether the query says to save data.
  let savesData: Bool?
  /// By which URLs its items name files.
  let links: MediaLinks
  private let fields: Fields

  /// - Throws: `ParameterError`, `CursorError`.
  init(
    feed: String, isCompact: Bool, _ parameters: Parameters, _ fields: Fields,
    _ networks: [NetworkProfile], _ links: MediaLinks = .asRecorded
  ) throws {
    self.links = links
    self.isCompact = isCompact
    self.parameters = parameters
    self.fields = fields
    network = try NetworkChoice(parameters, fields, networks)
    query = try Self.pageQuery(feed: feed, parameters)

    savesData = try parameters.boolean("saveData")
    let asksToSaveData = fields.combined("Save-Data")?.asciiLowercased == "on"
    bounds = PlanBounds(
      budgetBytes: try parameters.number("budget", in: Self.budgets),
      savesData: savesData ?? asksToSaveData,
      widthPixels: try parameters.number("width", in: Self.widths).map(DisplayWidth.atLeast))
    varyingFields = network.varyingFields.union(savesData == nil ? .savesData : [])
  }

  /// The same request where there are these networks.
  ///
  /// - Throws: `ParameterError`, `CursorError`.
  func read(with networks: [NetworkProfile]) throws -> PageRequest {
    try PageRequest(
      feed: query.feed, isCompact: isCompact, parameters, fields, networks, links)
  }

  /// What the page's representation rests on beside the store.
  func key(_ coding: ContentCoding) -> PageKey {
    PageKey(
      form: isCompact ? .compact : .full, query: query, network: network.profile.name,
      isNetworkNamed: network.isNamed, savesData: savesData, bounds: bounds, coding: coding,
      expires: links.expires)
  }
}

// MARK: Where the page lies

extension PageRequest {
  private static func pageQuery(feed: String, _ parameters: Parameters) throws -> PageQuery {
    let limit = try parameters.number("limit", in: limits)
    let offset = try parameters.number("offset", in: offsets)
    if let around = parameters["around"] {
      for other in ["offset", "after", "before"] where parameters[other] != nil {
        throw ParameterError(parameter: other, problem: "cannot stand beside around")
      }
      return try self.around(around, feed: feed, limit: limit, parameters)
    }
    for other in ["leading", "trailing"] where parameters[other] != nil {
      throw ParameterError(parameter: other, problem: "needs around beside it")
    }
    return PageQuery(
      feed: feed, start: try start(parameters), offset: offset ?? 0, limit: limit ?? defaultLimit)
  }

  /// Where a page lies, by its cursors.
  ///
  /// - Throws: `CursorError`.
  static func start(_ parameters: Parameters) throws -> PageQuery.Start {
    switch (try cursor("after", parameters), try cursor("before", parameters)) {
    case (nil, nil): .top
    case (let after?, nil): .after(after)
    case (nil, let before?): .before(before)
    case (let after?, let before?): .between(after: after, before: before)
    }
  }

  static func cursor(_ name: String, _ parameters: Parameters) throws -> Cursor? {
    guard let text = parameters[name] else { return nil }
    do throws(CursorTextError) {
      return try Cursor(text: text)
    } catch {
      throw CursorError(parameter: name, cause: error)
    }
  }

  private static func around(
    _ text: String, feed: String, limit: Int?, _ parameters: Parameters
  ) throws -> PageQuery {
    let others = 0...(limits.upperBound - 1)
    var leading = try parameters.number("leading", in: others)
    var trailing = try parameters.number("trailing", in: others)
    if let limit {
      guard leading == nil, trailing == nil else {
        throw ParameterError(
          parameter: "limit", problem: "cannot stand beside leading and trailing")
      }
      trailing = (limit - 1) / 3
      leading = limit - 1 - (limit - 1) / 3
    }
    let below = leading ?? defaultLimit - 1 - defaultTrailing
    let above = trailing ?? defaultTrailing
    guard below + above + 1 <= limits.upperBound else {
      throw ParameterError(
        parameter: "leading",
        problem: "and trailing and the item itself are more than \(limits.upperBound)")
    }
    return PageQuery(
      feed: feed, start: .around(try target(text), leading: below, trailing: above),
      limit: below + above + 1)
  }

  private static func target(_ text: String) throws(ParameterError) -> PageQuery.Target {
    let prefix = "offset:"
    guard text.hasPrefix(prefix) else { return .item(text) }
    guard let offset = Int(digits: text.dropFirst(prefix.count)), offsets.contains(offset) else {
      throw ParameterError(
        parameter: "around", problem: "is not offset: and a whole number: \"\(text.prefix(40))\"")
    }
    return .offset(offset)
  }
}

extension String {
  var asciiLowercased: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
