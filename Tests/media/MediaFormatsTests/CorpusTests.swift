import TestSupport
import Testing

/// What the fuzzer checks (`Tests/Fuzz`), of the inputs that it kept.
struct CorpusTests {
  @Test func `every head of the corpus keeps the properties`() throws {
    let inputs = try Corpus.inputs(of: "media")
    #expect(!inputs.isEmpty)
    for input in inputs { #expect(MediaProperties.fault(in: input.bytes) == nil, "\(input.name)") }
  }

  @Test func `every file of the corpus keeps the properties`() throws {
    let inputs = try Corpus.inputs(of: "structure")
    #expect(!inputs.isEmpty)
    for input in inputs {
      #expect(StructureProperties.fault(in: input.bytes) == nil, "\(input.name)")
    }
  }
}
