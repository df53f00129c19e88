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

extension PreconditionsTests {
  // The representation of the cases below has the tag "a" and was last modified on this second.
  private static let modified = 784_111_777
  private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
  private static let same = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"

  struct DateCase: Sendable {
    let method: Method
    let fields: Fields
    let outcome: Preconditions.Outcome

    init(_ method: Method, _ fields: Fields, _ outcome: Preconditions.Outcome) {
      self.method = method
      self.fields = fields
      self.outcome = outcome
    }
  }

  static let dates: [DateCase] = [
    DateCase(.get, ["If-Modified-Since": before], .proceed),
    DateCase(.get, ["If-Modified-Since": same], .notModified),
    DateCase(.get, ["If-Modified-Since": after], .notModified),
    DateCase(.head, ["if-modified-since": same], .notModified),
    DateCase(.get, ["If-Modified-Since": "Sunday, 06-Nov-94 08:49:37 GMT"], .notModified),
    DateCase(.get, ["If-Modified-Since": "Sun Nov  6 08:49:37 1994"], .notModified),
    DateCase(.get, ["If-Modified-Since": "Sun Nov  6 08:49:36 1994"], .proceed),
    DateCase(.put, ["If-Modified-Since": same], .proceed),
    DateCase(.delete, ["If-Modified-Since": same], .proceed),
    DateCase(.get, ["If-Modified-Since": ""], .proceed),
    DateCase(.get, ["If-Modified-Since": "yesterday"], .proceed),
    DateCase(.get, ["If-Modified-Since": "\(same), \(same)"], .proceed),
    DateCase(.get, ["If-Modified-Since": same, "If-Modified-Since": same], .proceed),
    DateCase(.put, ["If-Unmodified-Since": before], .failed),
    DateCase(.put, ["If-Unmodified-Since": same], .proceed),
    DateCase(.put, ["If-Unmodified-Since": after], .proceed),
    DateCase(.get, ["If-Unmodified-Since": before], .failed),
    DateCase(.get, ["If-Unmodified-Since": same], .proceed),
    DateCase(.put, ["If-Unmodified-Since": "Sunday, 06-Nov-94 08:49:36 GMT"], .failed),
    DateCase(.put, ["If-Unmodified-Since": "never"], .proceed),
    DateCase(.put, ["If-Unmodified-Since": before, "If-Unmodified-Since": before], .proceed),
    // A tag in place of the date: the date is ignored, even when the tag is malformed.
    DateCase(.get, ["If-None-Match": "\"b\"", "If-Modified-Since": same], .proceed),
    DateCase(.get, ["If-None-Match": "b", "If-Modified-Since": same], .proceed),
    DateCase(.get, ["If-None-Match": "\"a\"", "If-Modified-Since": before], .notModified),
    DateCase(.put, ["If-Match": "\"a\"", "If-Unmodified-Since": before], .proceed),
    DateCase(.put, ["If-Match": "\"b\"", "If-Unmodified-Since": same], .failed),
    // The order: 412 goes before 304.
    DateCase(.get, ["If-Modified-Since": same, "If-Unmodified-Since": before], .failed),
    DateCase(.get, ["If-Modified-Since": same, "If-Unmodified-Since": same], .notModified),
    DateCase(.get, ["If-None-Match": "\"a\"", "If-Unmodified-Since": before], .failed),
    DateCase(.get, ["If-Match": "\"a\"", "If-Modified-Since": same], .notModified),
    DateCase(.get, ["If-Match": "\"b\"", "If-Modified-Since": same], .failed),
  ]

  @Test(arguments: dates)
  func `dates count where there is no tag`(_ test: DateCase) {
    let outcome = Preconditions.evaluate(
      test.method, test.fields, current: EntityTag("a"), lastModifiedSeconds: Self.modified,
      nowSecondsSince1970: Self.modified + 1)
    #expect(outcome == test.outcome)
  }

  @Test func `dates are ignored where nothing is known of the last change`() {
    for name in ["If-Modified-Since", "If-Unmodified-Since"] {
      for date in [Self.before, Self.same, Self.after] {
        let fields: Fields = [name: date]
        #expect(Preconditions.evaluate(.get, fields, current: EntityTag("a")) == .proceed)
      }
    }
  }

  @Test(
    arguments: [
      ([:], true),
      (["If-Range": "\"a\""], true),
      (["if-range": "\"a\""], true),
      (["If-Range": "\"b\""], false),
      (["If-Range": "W/\"a\""], false),
      (["If-Range": "\"a\", \"b\""], false),
      (["If-Range": "\"a\"", "If-Range": "\"a\""], false),
      (["If-Range": same, "If-Range": "\"a\""], false),
      (["If-Range": "*"], false),
      (["If-Range": "a"], false),
      (["If-Range": ""], false),
      (["If-Range": same], true),
      (["If-Range": "Sunday, 06-Nov-94 08:49:37 GMT"], true),
      (["If-Range": "Sun Nov  6 08:49:37 1994"], true),
      (["If-Range": before], false),
      (["If-Range": after], false),
      (["If-Range": "\(same), \(same)"], false),
    ] as [(Fields, Bool)])
  func `a range applies to what the client has a part of`(_ fields: Fields, _ applies: Bool) {
    #expect(
      Preconditions.rangeApplies(
        fields, current: EntityTag("a"), lastModifiedSeconds: Self.modified,
        nowSecondsSince1970: Self.modified + 1) == applies)
  }

  @Test func `a weak tag, or none, lets no range apply`() {
    for current in [EntityTag("a", isWeak: true), nil] {
      for value in ["\"a\"", "W/\"a\""] {
        #expect(
          !Preconditions.rangeApplies(
            ["If-Range": value], current: current, lastModifiedSeconds: nil,
            nowSecondsSince1970: 0))
      }
      #expect(
        Preconditions.rangeApplies(
          [:], current: current, lastModifiedSeconds: nil, nowSecondsSince1970: 0))
    }
  }

  @Test(arguments: [
    (nil, 1, false), (modified, 0, false), (modified, -1, false), (modified, 1, true),
  ])
  func `a date is a strong validator once its second is over`(
    _ lastModifiedSeconds: Int?, _ secondsLater: Int, _ applies: Bool
  ) {
    #expect(
      Preconditions.rangeApplies(
        ["If-Range": Self.same], current: EntityTag("a"),
        lastModifiedSeconds: lastModifiedSeconds,
        nowSecondsSince1970: Self.modified + secondsLater) == applies)
  }
}
