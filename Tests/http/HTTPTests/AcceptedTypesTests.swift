import HTTP
import Testing

@Suite struct AcceptedTypesTests {
  @Test(
    arguments: [
      (nil, false), ("", false), ("*/*", false), ("application/json", false), (" ,, ", false),
      ("text/html", true), ("TEXT/HTML", true), ("text/*", true), ("text/html;q=0", false),
      ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
      ("application/json, text/html;q=0.5", false), ("application/json;q=0.5, text/html", true),
      ("application/json, text/html", true), ("text/html;q=0.7, */*;q=0.8", false),
      ("text/html;level=1;q=0.4, application/json;q=0.5", false),
      ("text/html; charset=utf-8", true), ("text/html;q=2", false), ("text/html;q=", false),
      ("text/html;q=x, */*", false), ("text/html;q=0, text/*", false), ("text/htm", false),
      ("text/html;q=0.5, application/*;q=0.6", false), (";q=1", false), ("text/html;;", true),
    ] as [(String?, Bool)])
  func `HTML is for who names it and likes it no less than JSON`(field: String?, prefers: Bool) {
    #expect(AcceptedTypes(field).prefers("text/html", to: "application/json") == prefers)
  }
}
