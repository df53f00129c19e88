import TestSupport
import Testing

/// What the fuzzer checks (`Tests/Fuzz`), of the inputs that it kept.
struct CorpusTests {
  @Test(arguments: ["record", "shape"])
  func `every input of the corpus keeps the properties`(_ target: String) throws {
    let inputs = try Corpus.inputs(of: target)
    #expect(!inputs.isEmpty)
    for input in inputs {
      let fault =
        target == "record"
        ? RecordProperties.fault(in: input.bytes) : ShapeProperties.fault(in: input.bytes)
      #expect(fault == nil, "\(input.name)")
    }
  }
}
