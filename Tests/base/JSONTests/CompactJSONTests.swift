import JSON
import TestSupport
import Testing

/// A value's own JSON, as it stands in its document.
struct CompactJSONTests {
  static let cases: [(json: String, compact: String, depth: Int)] = [
    ("1.50 ", "1.50", 0), (" null", "null", 0), (#" "a \" [ " "#, #""a \" [ ""#, 0),
    ("[ ]", "[]", 1), ("{\n}", "{}", 1), ("[ [ ], [ [ 1 ] ], [ ] ]", "[[],[[1]],[]]", 3),
    (#"{ "a" : { "b" : [ "x y" ] }, "c" : [ ] }"#, #"{"a":{"b":["x y"]},"c":[]}"#, 3),
    (#"[ "\\" , "\\\"" , "]" ]"#, #"["\\","\\\"","]"]"#, 1),
  ]

  @Test(arguments: cases)
  func `white space between tokens goes, all else stays`(
    _ json: String, _ compact: String, _ depth: Int
  ) throws {
    let value = try JSONDocument(Array(json.utf8)).root
    #expect(String(decoding: value.compactJSON, as: UTF8.self) == compact)
    #expect(value.depth == depth)
  }

  @Test(arguments: TestRandom.seeds)
  func `any value is the same without white space, within others too`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<500 {
      let (spaced, plain, depth) = Self.value(&random, depth: 0)
      let document = try JSONDocument(Array("[0,{\"k\":\(spaced)} ,[1]]".utf8))
      let value = try #require(Array(document.root.elements)[1].member("k"))
      #expect(String(decoding: value.compactJSON, as: UTF8.self) == plain, TestRandom.replay)
      #expect(value.depth == depth, TestRandom.replay)
    }
  }

  /// A value with white space, without, and how deep it is.
  private static func value(_ random: inout TestRandom, depth: Int) -> (String, String, Int) {
    func space() -> String { random.one(of: ["", " ", "\n\t", "\r "]) }
    let scalars = ["0", "-1.0e+5", "true", "null", #""""#, #""\\\" [{ ""#, "\"\u{e9} ,:\""]
    if depth > 3 || random.once(in: 3) {
      let scalar = random.one(of: scalars)
      return (space() + scalar + space(), scalar, 0)
    }
    let isObject = random.once(in: 2)
    let parts = (0..<random.number(0...3)).map { index -> (String, String, Int) in
      let (spaced, plain, deep) = value(&random, depth: depth + 1)
      guard isObject else { return (spaced, plain, deep) }
      return ("\(space())\"k\(index)\"\(space()):\(spaced)", "\"k\(index)\":\(plain)", deep)
    }
    let ends = isObject ? ("{", "}") : ("[", "]")
    return (
      space() + ends.0 + space() + parts.map(\.0).joined(separator: ",") + ends.1 + space(),
      ends.0 + parts.map(\.1).joined(separator: ",") + ends.1,
      1 + (parts.map(\.2).max() ?? 0)
    )
  }
}
