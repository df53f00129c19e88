import JSON
import PostJSON
import Prefetch
import Testing

/// A policy as `/v1/networks` has it, which clients read.
@Suite struct PolicyJSONTests {
  private static func read(_ text: String) throws -> Policy? {
    Policy(json: try JSONDocument(Array(text.utf8)).root)
  }

  @Test(arguments: Policy.Strategy.usual)
  func `a policy is read back as it was written`(strategy: Policy.Strategy) throws {
    var policy = Policy(name: "p", strategy: strategy)
    (policy.trailing, policy.imageWeight, policy.videoWeight) = (7, 3, 5)
    (policy.webappWeight, policy.adWeight, policy.textWeight) = (11, 13, 2)
    (policy.carouselVisibleParts, policy.nextPagePercent, policy.itemsPerMinute) = (4, 60, 33)
    (policy.videoStartBytes, policy.videoBytes, policy.videoKbps) = (1_001, 1_002, 1_003)
    (policy.imageBytes, policy.webappBytes) = (1_004, 1_005)
    var writer = JSONWriter()
    writer.policy(policy)
    #expect(Policy(json: try JSONDocument(writer.bytes).root) == policy)
  }

  @Test func `what is no policy is none, and a number that cannot be is the usual one`() throws {
    for text in [
      "[]", "{}", #"{"name":"p","strategy":"plain"}"#,
      #"{"name":"p","strategy":"best","parameters":{}}"#,
      #"{"name":"p","strategy":"plain","parameters":{"leading":1.5}}"#,
      #"{"name":"p","strategy":"plain","parameters":{"leading":-1}}"#,
      #"{"name":1,"strategy":"plain","parameters":{"leading":1}}"#,
    ] {
      #expect(try Self.read(text) == nil, "\(text)")
    }
    let read = try #require(
      try Self.read(
        #"{"name":"p","strategy":"plain","parameters":{"leading":1},"trailing":-1,"itemsPerMinute":0,"#
          + #""weights":{"image":1e9},"new":true}"#))
    #expect(read == Policy(name: "p", strategy: .plain(leading: 1)))
  }
}
