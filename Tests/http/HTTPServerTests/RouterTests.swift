import HTTP
import HTTPServer
import Testing

struct RouterTests {
  static let router: Router<String> = {
    var router = Router<String>()
    router.add(.get, "/rp/", "page")
    router.add(.get, "/v1/items/{id}", "item")
    router.add(.delete, "/v1/items/{id}", "deletion")
    router.add(.get, "/v1/items/newest", "newest")
    router.add(.get, "/v1/feeds/{feed}/items", "items")
    router.add(.post, "/v1/import", "import")
    router.add(.get, "/media/{path...}", "media")
    router.add(.get, "/media/list", "list")
    return router
  }()

  static func show(_ match: Router<String>.Match) -> String {
    switch match {
    case .found(let value, let parameters):
      parameters.sorted { $0.key < $1.key }.reduce(value) { "\($0) \($1.key)=\($1.value)" }
    case .methodNotAllowed(let allowed): "allowed \(allowed.map(\.rawValue).joined(separator: " "))"
    case .notFound: "not found"
    case .malformedPath(let error): "malformed: \(error)"
    }
  }

  @Test(arguments: [
    (Method.get, "/rp/", "page"), (.head, "/rp/", "page"), (.get, "/rp", "not found"),
    (.get, "/%72p/", "not found"), (.get, "/rp//", "not found"), (.get, "//rp/", "not found"),
    (.post, "/rp/", "allowed GET HEAD OPTIONS"), (.options, "/rp/", "allowed GET HEAD OPTIONS"),
    (.get, "/v1/items/a%2Fb%20c", "item id=a/b c"), (.get, "/v1/items/%2525", "item id=%25"),
    (.get, "/v1/items/", "not found"), (.get, "/v1/items/newest", "newest"),
    (.delete, "/v1/items/newest", "allowed GET HEAD OPTIONS"),
    (.delete, "/v1/items/x", "deletion id=x"),
    (.put, "/v1/items/x", "allowed GET HEAD DELETE OPTIONS"),
    (.get, "/v1/feeds/f/items", "items feed=f"), (.get, "/v1/import", "allowed POST OPTIONS"),
    (.get, "/v1/items/%zz", "malformed: a % without two hexadecimal digits at offset 10"),
    (.get, "/media/a.mp4", "media path=a.mp4"), (.get, "/media/a/b%2Fc//", "media path=a/b%2Fc//"),
    (.get, "/media/", "media path="), (.get, "/media", "not found"), (.get, "/media/list", "list"),
    (.get, "/m%65dia/%2e%2E/x", "not found"), (.get, "/%6Dedia/x", "not found"),
    (.get, "/v1%2Fitems/x", "not found"), (.get, "/%76%31/items/x", "not found"),
    (.get, "/./media/x", "not found"), (.get, "/v1/../media/x", "not found"),
    (.get, "/%2e/media/x", "not found"), (.get, "/v1/item%73/newest", "not found"),
    (.get, "/v1/items/newes%74", "item id=newest"), (.get, "/v1/feeds/%66/items", "items feed=f"),
    (.get, "/media/%2e%2E/x", "media path=%2e%2E/x"),
    (.put, "/media/x", "allowed GET HEAD OPTIONS"),
    (.options, "*", "not found"), (.get, "/", "not found"),
  ])
  func `a path finds its route`(_ method: Method, _ path: String, _ expected: String) {
    #expect(Self.show(Self.router.match(method, path: path)) == expected)
  }
}
