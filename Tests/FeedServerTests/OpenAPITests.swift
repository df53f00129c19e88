import Foundation
import HTTP
import TestSupport
import Testing

@testable import FeedServer

/// The document describes what the program does: every route, parameter, bound and problem.
@Suite struct OpenAPITests {
  private let document =
    try! JSONSerialization.jsonObject(with: Data(OpenAPI.document)) as! [String: Any]

  private var paths: [String: [String: Any]] { document["paths"] as! [String: [String: Any]] }

  private func resolved(_ value: Any) -> [String: Any] {
    guard let object = value as? [String: Any] else { return [:] }
    guard let reference = object["$ref"] as? String else { return object }
    var current: Any = document
    for name in reference.dropFirst(2).split(separator: "/") {
      current = (current as! [String: Any])[String(name)]!
    }
    return current as! [String: Any]
  }

  private func parameters(of route: Route, in place: String) -> [[String: Any]] {
    let path = paths[route.path] ?? [:]
    let operation = path["get"] as? [String: Any] ?? [:]
    let all = (path["parameters"] as? [Any] ?? []) + (operation["parameters"] as? [Any] ?? [])
    return all.map(resolved).filter { $0["in"] as? String == place }
  }

  @Test func `every route is in it and nothing else`() {
    #expect(Set(paths.keys) == Set(Route.allCases.map(\.path)))
    for path in paths.values { #expect(path["get"] != nil) }
  }

  @Test(arguments: Route.allCases)
  func `every parameter of a route is in it and nothing else`(_ route: Route) {
    let names = parameters(of: route, in: "query").map { $0["name"] as! String }
    #expect(names.sorted() == route.parameters.sorted())
    let segments = parameters(of: route, in: "path").map { "{\($0["name"] as! String)}" }
    for segment in segments { #expect(route.path.contains(segment)) }
    #expect(segments.count == route.path.count { $0 == "{" })
  }

  @Test func `the bounds are the program's`() throws {
    let schemas = Dictionary(
      uniqueKeysWithValues: parameters(of: .compactPage, in: "query").map {
        ($0["name"] as! String, resolved($0["schema"] as Any))
      })
    let limit = try #require(schemas["limit"])
    #expect(limit["minimum"] as? Int == PageRequest.limits.lowerBound)
    #expect(limit["maximum"] as? Int == PageRequest.limits.upperBound)
    #expect(limit["default"] as? Int == PageRequest.defaultLimit)
    #expect(schemas["offset"]?["maximum"] as? Int == PageRequest.offsets.upperBound)
    #expect(schemas["leading"]?["maximum"] as? Int == PageRequest.limits.upperBound - 1)
    #expect(schemas["budget"]?["maximum"] as? Int == PageRequest.budgets.upperBound)
  }

  @Test func `every kind of problem is in it`() {
    let text = String(decoding: OpenAPI.document, as: UTF8.self)
    for kind in Problem.Kind.allCases { #expect(text.contains("\"\(kind.uri)\""), "\(kind)") }
  }
}
