import TestSupport
import Testing

/// What the fuzzer checks (`Tests/Fuzz`), of the inputs that it kept.
struct CorpusTests {
  static let properties: [(target: String, fault: @Sendable ([UInt8]) -> String?)] = [
    ("parser", ParserProperties.fault), ("query", QueryProperties.fault),
    ("range", RangeProperties.fault), ("fields", FieldProperties.fault),
  ]

  @Test(arguments: properties.map(\.target))
  func `every input of the corpus keeps the properties`(_ target: String) throws {
    let property = try #require(Self.properties.first { $0.target == target })
    let inputs = try Corpus.inputs(of: target)
    #expect(!inputs.isEmpty)
    for input in inputs { #expect(property.fault(input.bytes) == nil, "\(target)/\(input.name)") }
  }
}
