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

/// A request for a page as it came: what it means depends on the networks that there are.
struct PageText: Sendable {
  let feed: String
  let isCompact: Bool
  let parameters: Parameters
  let fields: Fields

  /// - Throws: `ParameterError`, `CursorError`.
  func request(_ networks: [NetworkProfile]) throws -> PageRequest {
    try PageRequest(feed: feed, isCompact: isCompact, parameters, fields, networks)
  }
}

/// A request for a page: what the parameters of its query say.
struct PageRequest {
  /// Every parameter of a page but `feed`, which is in the path of one of the routes.
  static let parameters =
    ["limit", "offset", "after", "before", "around", "leading", "trailing"]
    + NetworkChoice.parameters + ["saveData", "budget"]

  static let limits = 1...100
  static let defaultLimit = 30
  static let offsets = 0...RecordLimits.number
  static let budgets = 0...RecordLimits.number
  /// `around` alone shows a page of the default size, twice as much below as above.
  static let defaultTrailing = (defaultLimit - 1) / 3

  let query: PageQuery
  let network: NetworkChoice
  let bounds: PlanBounds
  /// Asked for by the compact route, to which its links lead then.
  let isCompact: Bool
  /// The request's fields that the page depends on.
  let varyingFields: [String]
  private let texts: (after: String?, before: String?)
  private let savesData: Bool?

  /// - Throws: `ParameterError`, `CursorError`.
  init(
    feed: String, isCompact: Bool, _ parameters: Parameters, _ fields: Fields,
    _ networks: [NetworkProfile]
  ) throws {
    self.isCompact = isCompact
    network = try NetworkChoice(parameters, fields, networks)
    query = try Self.pageQuery(feed: feed, parameters)
    texts = (parameters["after"], parameters["before"])

    savesData = try parameters.boolean("saveData")
    let asksToSaveData = fields.combined("Save-Data")?.asciiLowercased == "on"
    bounds = PlanBounds(
      budgetBytes: try parameters.number("budget", in: Self.budgets),
      savesData: savesData ?? asksToSaveData)
    varyingFields = network.varyingFields + (savesData == nil ? ["Save-Data"] : [])
  }

  /// A link up to its cursor: the route, and the parameters that links repeat; places are in cursors.
  var linkStart: String {
    var start = isCompact ? "/rp/?feed=" : "/v1/feeds/"
    start += PercentEncoding.encode(query.feed, for: isCompact ? .queryValue : .pathSegment)
    start += isCompact ? "&limit=" : "/items?limit="
    start += String(query.limit)
    if network.isNamed {
      start += "&network="
      start += PercentEncoding.encode(network.profile.name, for: .queryValue)
    }
    if let savesData { start += savesData ? "&saveData=true" : "&saveData=false" }
    if let budget = bounds.budgetBytes {
      start += "&budget="
      start += String(budget)
    }
    return start
  }

  /// What the page's representation rests on beside the store.
  func key(_ coding: ContentCoding) -> PageKey {
    PageKey(
      isCompact: isCompact, query: query, network: network.profile.name,
      isNetworkNamed: network.isNamed, savesData: savesData, bounds: bounds, coding: coding)
  }

  /// What follows a link's start on the way to the page below. (A cursor's text needs no encoding.)
  func linkEnd(after cursor: String) -> String {
    guard texts.after != nil, let before = texts.before else { return "&after=" + cursor }
    // The lower end of a gap stays where it is.
    return "&after=" + cursor + "&before=" + before
  }

  /// What follows a link's start on the way to the page above.
  func linkEnd(before cursor: String) -> String {
    guard let after = texts.after, texts.before != nil else { return "&before=" + cursor }
    return "&after=" + after + "&before=" + cursor
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
    let after = try cursor("after", parameters)
    let before = try cursor("before", parameters)
    let start: PageQuery.Start =
      switch (after, before) {
      case (nil, nil): .top
      case (let after?, nil): .after(after)
      case (nil, let before?): .before(before)
      case (let after?, let before?): .between(after: after, before: before)
      }
    return PageQuery(feed: feed, start: start, offset: offset ?? 0, limit: limit ?? defaultLimit)
  }

  private static func cursor(_ name: String, _ parameters: Parameters) throws -> Cursor? {
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
