import JSON
import TestSupport
import Testing

/// RFC 7396.
@Suite struct MergePatchTests {
  /// The table of appendix A, and what it leaves out.
  static let cases: [(target: String, patch: String, result: String)] = [
    (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
    (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
    (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
    (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
    (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
    (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
    (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
    (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
    (#"{"a":"foo"}"#, #"null"#, #"null"#),
    (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
    (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
    (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
    (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    // Names and texts with escapes, numbers as they are written, the same member by another spelling.
    (#"{"a":1.50,"b":"\u00e9\\\""}"#, #"{"c":1e2}"#, #"{"a":1.50,"b":"\u00e9\\\"","c":1e2}"#),
    (#"{"a":1}"#, #"{"\u0061":2}"#, #"{"a":2}"#),
    (#"{"":1,"x":""}"#, #"{"":{"":[]}}"#, #"{"":{"":[]},"x":""}"#),
    (#"{"a":[1,{"b":2}],"c":true}"#, #"{ "c" : false }"#, #"{"a":[1,{"b":2}],"c":false}"#),
  ]

  @Test(arguments: cases)
  func `a patch makes of a value what the RFC says`(
    _ target: String, _ patch: String, _ result: String
  ) throws {
    let patched = try JSONDocument(Array(target.utf8)).root.patched(
      with: JSONDocument(Array(patch.utf8)).root)
    #expect(String(decoding: patched, as: UTF8.self) == result)
  }
}
