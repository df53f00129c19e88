import TestSupport
import Testing

/// What the fuzzer checks (`Tests/Fuzz`), of the inputs that it kept.
struct CorpusTests {
  @Test func `every cursor of the corpus keeps the properties`() throws {
    let inputs = try Corpus.inputs(of: "cursor")
    #expect(!inputs.isEmpty)
    for input in inputs { #expect(CursorProperties.fault(in: input.bytes) == nil, "\(input.name)") }
  }
}
