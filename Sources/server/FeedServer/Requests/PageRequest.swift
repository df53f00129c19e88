import Catalog
import Feed
import HTTP
import PostJSON
import Prefetch

/// A text that is not a cursor, and the parameter that has it.
struct CursorError: Error, CustomStringConvertible {
  let parameter: String
  let cause: CursorTextError

  var description: String {
    switch cause {
    case .damaged: "The parameter \(parameter) is not a cursor of this server."
    case .unknownVersion(let version):
      "The cursor in \(parameter) has the form \(version), which this server does not know."
    }
  }
}

/// A request for a page: the parameters of its query, and the fields of its head. Their meaning depends on
/// the existing networks.
final class PageRequest: Sendable {
  /// Every parameter of a page except `feed`, which is in the path of one of the routes.
  static let parameters =
    ["limit", "offset", "after", "before", "around", "leading", "trailing"]
    + NetworkChoice.parameters + ["saveData", "budget", "width", "arm"]

  static let limits = 1...100
  static let defaultLimit = 30
  static let offsets = 0...RecordLimits.number
  static let budgets = 0...RecordLimits.number
  static let widths = 1...16_384
  /// The default number of items above: `around` alone shows a page of the default size, with twice as many
  /// items below as above.
  static let defaultTrailing = (defaultLimit - 1) / 3

  let query: PageQuery
  let network: NetworkChoice
  let bounds: PlanBounds
  /// Whether the request used the compact route; links then lead there.
  let isCompact: Bool
  /// The request fields that the page depends on.
  let varyingFields: VaryingFields
  let parameters: Parameters
  /// Whether the query asks to save data; `nil` if it does not say.
  let savesData: Bool?
  /// The URLs by which its items name files.
  let links: MediaLinks
  /// The arm of the experiment on the feed, if there is one.
  let arm: ExperimentArm
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

    arm = try Self.arm(parameters)
    savesData = try parameters.boolean("saveData")
    let asksToSaveData = fields.combined("Save-Data")?.asciiLowercased == "on"
    bounds = PlanBounds(
      budgetBytes: try parameters.number("budget", in: Self.budgets),
      savesData: savesData ?? asksToSaveData,
      widthPixels: try parameters.number("width", in: Self.widths).map(DisplayWidth.atLeast))
    varyingFields = network.varyingFields.union(savesData == nil ? .savesData : [])
  }

  /// Parses the arm. An unknown arm is `a`: the experiment may be over.
  private static func arm(_ parameters: Parameters) throws(ParameterError) -> ExperimentArm {
    guard let text = parameters["arm"] else { return .a }
    guard text.utf8.count == 1, text.utf8.allSatisfy({ (97...122).contains($0) }) else {
      throw ParameterError(
        parameter: "arm", problem: "is not a letter from a to z: \"\(text.prefix(40))\"")
    }
    return ExperimentArm(rawValue: text) ?? .a
  }

  /// The same request, read with these networks.
  ///
  /// - Throws: `ParameterError`, `CursorError`.
  func read(with networks: [NetworkProfile]) throws -> PageRequest {
    try PageRequest(
      feed: query.feed, isCompact: isCompact, parameters, fields, networks, links)
  }

  /// Everything that the page's representation depends on, besides the store.
  func key(_ coding: ContentCoding) -> PageKey {
    PageKey(
      form: isCompact ? .compact : .full, query: query, network: network.profile.name,
      isNetworkNamed: network.isNamed, savesData: savesData, bounds: bounds, arm: arm,
      coding: coding,
      expires: links.expires)
  }
}

// MARK: The position of the page

extension PageRequest {
  private static func pageQuery(feed: String, _ parameters: Parameters) throws -> PageQuery {
    let limit = try parameters.number("limit", in: limits)
    let offset = try parameters.number("offset", in: offsets)
    if let around = parameters["around"] {
      for other in ["offset", "after", "before"] where parameters[other] != nil {
        throw ParameterError(parameter: other, problem: "cannot be combined with around")
      }
      return try self.around(around, feed: feed, limit: limit, parameters)
    }
    for other in ["leading", "trailing"] where parameters[other] != nil {
      throw ParameterError(parameter: other, problem: "requires around")
    }
    return PageQuery(
      feed: feed, start: try start(parameters), offset: offset ?? 0, limit: limit ?? defaultLimit)
  }

  /// The start of a page, by its cursors.
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
          parameter: "limit", problem: "cannot be combined with leading and trailing")
      }
      trailing = (limit - 1) / 3
      leading = limit - 1 - (limit - 1) / 3
    }
    let below = leading ?? defaultLimit - 1 - defaultTrailing
    let above = trailing ?? defaultTrailing
    guard below + above + 1 <= limits.upperBound else {
      throw ParameterError(
        parameter: "leading",
        problem: "plus trailing plus the item itself is more than \(limits.upperBound)")
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
        parameter: "around",
        problem: "is not offset: followed by a whole number: \"\(text.prefix(40))\"")
    }
    return .offset(offset)
  }
}

extension String {
  var asciiLowercased: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension PageRequest {
  /// The links from a page that was cut for the request.
  func links(of slice: PageSlice) -> PageLinks {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.linkCapacity)
    slice.newer.write(to: &bytes)
    let newer = 0..<bytes.count
    guard slice.next != nil || slice.previous != nil else {
      return PageLinks(bytes, newerCursor: newer, next: nil, previous: nil)
    }
    // For a gap, the other end stays the same.
    let isGap = parameters["after"] != nil && parameters["before"] != nil
    var start: Range<Int>?
    let next = link(
      slice.next, "&after=", behind: nil, beside: isGap ? "before" : nil, &start, in: &bytes)
    let previous = link(
      slice.previous, "&before=", behind: isGap ? "after" : nil, beside: nil, &start, in: &bytes)
    return PageLinks(bytes, newerCursor: newer, next: next, previous: previous)
  }

  /// Appends a link to the cursor, if there is one, with the parameters of these names as received.
  private func link(
    _ cursor: Cursor?, _ name: String, behind first: String?, beside last: String?,
    _ start: inout Range<Int>?, in bytes: inout [UInt8]
  ) -> PageLinks.Link? {
    guard let cursor else { return nil }
    let link = beginLink(&start, in: &bytes)
    append(first, to: &bytes)
    bytes.append(text: name)
    let text = bytes.count
    cursor.write(to: &bytes)
    let end = bytes.count
    append(last, to: &bytes)
    return PageLinks.Link(target: link..<bytes.count, cursor: text..<end)
  }

  /// Appends the parameter of this name as received.
  private func append(_ name: String?, to bytes: inout [UInt8]) {
    guard let name, let value = parameters[name] else { return }
    bytes.append(text: "&\(name)=")
    bytes.append(text: value)
  }

  /// The usual size of three cursors and two links.
  private static let linkCapacity = 1000

  /// Appends a link up to its cursor: the route, and the parameters that links repeat; positions are in
  /// cursors.
  ///
  /// - Parameter start: the range of such a beginning that was appended before, if any.
  /// - Returns: the start of the link. Cursors need no encoding.
  private func beginLink(_ start: inout Range<Int>?, in bytes: inout [UInt8]) -> Int {
    let first = bytes.count
    if let start {
      for index in start { bytes.append(bytes[index]) }
    } else {
      appendLinkStart(to: &bytes)
      start = first..<bytes.count
    }
    return first
  }

  private func appendLinkStart(to bytes: inout [UInt8]) {
    bytes.append(text: isCompact ? "/rp/?feed=" : "/v1/feeds/")
    PercentEncoding.append(query.feed, for: isCompact ? .queryValue : .pathSegment, to: &bytes)
    bytes.append(text: isCompact ? "&limit=" : "/items?limit=")
    bytes.append(text: String(query.limit))
    if network.isNamed {
      bytes.append(text: "&network=")
      PercentEncoding.append(network.profile.name, for: .queryValue, to: &bytes)
    }
    if let savesData { bytes.append(text: savesData ? "&saveData=true" : "&saveData=false") }
    if let budget = bounds.budgetBytes {
      bytes.append(text: "&budget=")
      bytes.append(text: String(budget))
    }
    if let width = bounds.widthPixels {
      bytes.append(text: "&width=")
      bytes.append(text: String(width))
    }
    if arm != .a { bytes.append(text: "&arm=\(arm.rawValue)") }
  }
}

// MARK: The network

/// The network profile for a request, and the head fields that chose it.
struct NetworkChoice {
  /// The parameters that choose a network.
  static let parameters = ["network", "downlink", "rtt"]

  let profile: NetworkProfile
  /// The request fields on which the choice depends: for `Vary`.
  let varyingFields: VaryingFields
  /// Whether the query chooses the network, in one way or another: links then contain its profile.
  let isNamed: Bool

  private static let figures = 0...RecordLimits.number

  /// - Throws: `ParameterError` for an unknown profile, and for figures beside a profile.
  init(_ parameters: Parameters, _ fields: Fields, _ networks: [NetworkProfile]) throws {
    let downlink = try parameters.number("downlink", in: Self.figures)
    let roundTrip = try parameters.number("rtt", in: Self.figures)
    let query: NetworkQuery
    if let name = parameters["network"] {
      for (figure, value) in [("downlink", downlink), ("rtt", roundTrip)] where value != nil {
        throw ParameterError(
          parameter: figure, problem: "cannot be combined with network")
      }
      query = .profile(name)
      (isNamed, varyingFields) = (true, [])
    } else if downlink != nil || roundTrip != nil {
      query = .measured(downlinkKbps: downlink, roundTripMilliseconds: roundTrip)
      (isNamed, varyingFields) = (true, [])
    } else {
      query = Self.query(fields)
      (isNamed, varyingFields) = (false, .network)
    }
    guard let profile = networks.profile(for: query) else {
      let names = networks.map(\.name).joined(separator: ", ")
      throw ParameterError(parameter: "network", problem: "is not one of \(names)")
    }
    self.profile = profile
  }

  /// Reads client hints (Network Information API, section 6). A server may ignore hints that it cannot parse
  /// (RFC 8942 section 2.2), and there is no parameter to blame.
  private static func query(_ fields: Fields) -> NetworkQuery {
    let isDecimal = fields["Downlink"]?.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 }
    let megabits = isDecimal == true ? fields["Downlink"].flatMap(Double.init) : nil
    let downlink = megabits.flatMap {
      (0...1_000_000).contains($0) ? Int($0 * 1000) : nil
    }
    let roundTrip = fields["RTT"].flatMap { Int(digits: $0) }
    if downlink != nil || roundTrip != nil {
      return .measured(
        downlinkKbps: downlink, roundTripMilliseconds: roundTrip, effectiveType: fields["ECT"])
    }
    return fields["ECT"].map(NetworkQuery.effectiveType) ?? .unknown
  }
}

/// The widths at which clients show files, in their own pixels. There are only a few steps, so that clients
/// share pages: each width is rounded up to the next step.
enum DisplayWidth {
  /// The widths of the ladders of `media renditions`, and one for all beyond.
  static let steps = [160, 320, 480, 640, 960, 1_280, 1_920, 2_560, 16_384]

  /// The smallest step of at least this width.
  static func atLeast(_ pixels: Int) -> Int {
    steps.first { $0 >= pixels } ?? steps[steps.count - 1]
  }
}
