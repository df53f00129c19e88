import Digests
import TestSupport
import Testing

/// The digests are the standard's.
struct SHA256Tests {
  private static func hexadecimal(_ digest: [UInt8]) -> String {
    digest.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
  }

  @Test(arguments: [
    // FIPS 180-2, appendix B, and the empty text.
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `the standard's examples have the standard's digests`(text: String, digest: String) {
    #expect(Self.hexadecimal(SHA256.digest(of: Array(text.utf8))) == digest)
  }

  @Test func `a million letters have the standard's digest`() {
    #expect(
      Self.hexadecimal(SHA256.digest(of: [UInt8](repeating: 0x61, count: 1_000_000)))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(arguments: TestRandom.seeds)
  func `bytes have the same digest in whatever pieces they come`(seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      let bytes = (0..<random.number(0...300)).map { _ in UInt8(random.number(0...255)) }
      var hash = SHA256()
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, start + random.number(1...130))
        hash.add(Array(bytes[start..<end]))
        start = end
      }
      #expect(hash.digest() == SHA256.digest(of: bytes), TestRandom.replay)
    }
  }
}
