import HTTP
import Testing

struct PreconditionsTests {
  @Test(arguments: ["\"a\"", "W/\"a\"", "\"\"", "\"a,b\""])
  func `an entity tag is written as it was read`(_ text: String) throws {
    #expect(try #require(EntityTag(parsing: text)).description == text)
  }

  @Test(arguments: ["", "a", "\"a", "w/\"a\"", "\"a\"b", "\"a b\"", "W/a"])
  func `what is no entity tag is not read as one`(_ text: String) {
    #expect(EntityTag(parsing: text) == nil)
  }

  @Test func `strong comparison needs two strong tags and weak comparison none`() {
    let strong = EntityTag("a")
    let weak = EntityTag("a", isWeak: true)
    #expect(strong.stronglyMatches(strong) && !strong.stronglyMatches(weak))
    #expect(!weak.stronglyMatches(weak) && weak.weaklyMatches(strong) && weak.weaklyMatches(weak))
    #expect(!strong.weaklyMatches(EntityTag("b")))
  }

  struct Case: Sendable {
    let method: Method
    let fields: Fields
    let current: EntityTag?
    let outcome: Preconditions.Outcome

    init(
      _ method: Method, _ fields: Fields, _ current: EntityTag?, _ outcome: Preconditions.Outcome
    ) {
      self.method = method
      self.fields = fields
      self.current = current
      self.outcome = outcome
    }
  }

  @Test(arguments: [
    Case(.get, [:], EntityTag("a"), .proceed),
    Case(.get, ["If-None-Match": "\"a\""], EntityTag("a"), .notModified),
    Case(.head, ["if-none-match": "W/\"a\""], EntityTag("a"), .notModified),
    Case(.get, ["If-None-Match": "\"b\" , \"a\""], EntityTag("a"), .notModified),
    Case(.get, ["If-None-Match": "\"b\"", "If-None-Match": "\"a\""], EntityTag("a"), .notModified),
    Case(.get, ["If-None-Match": "*"], EntityTag("a"), .notModified),
    Case(.get, ["If-None-Match": "*"], nil, .proceed),
    Case(.get, ["If-None-Match": "\"b\""], EntityTag("a"), .proceed),
    Case(.get, ["If-None-Match": "a"], EntityTag("a"), .proceed),
    Case(.get, ["If-None-Match": "\"a\" \"b\""], EntityTag("a"), .proceed),
    Case(.put, ["If-None-Match": "*"], EntityTag("a"), .failed),
    Case(.put, ["If-None-Match": "*"], nil, .proceed),
    Case(.put, ["If-Match": "\"a\""], EntityTag("a"), .proceed),
    Case(.put, ["If-Match": "W/\"a\""], EntityTag("a"), .failed),
    Case(.put, ["If-Match": "\"b\""], EntityTag("a"), .failed),
    Case(.put, ["If-Match": "*"], nil, .failed),
    Case(.put, ["If-Match": "*"], EntityTag("a"), .proceed),
    Case(.put, ["If-Match": "a"], EntityTag("a"), .failed),
    Case(.get, ["If-Match": "\"a\"", "If-None-Match": "\"a\""], EntityTag("a"), .notModified),
  ])
  func `preconditions come in the order of the RFC`(_ test: Case) {
    let outcome = Preconditions.evaluate(test.method, test.fields, current: test.current)
    #expect(outcome == test.outcome)
  }
}
