import HTTP
import TestSupport
import Testing

struct AcceptEncodingTests {
  struct Case: Sendable {
    let field: String?
    let best: ContentCoding?

    init(_ field: String?, _ best: ContentCoding?) {
      self.field = field
      self.best = best
    }
  }

  static let usual: [Case] = [
    Case(nil, .identity),
    Case("", .identity),
    Case(" , ,", .identity),
    Case("gzip", .gzip),
    Case("br", .brotli),
    Case("identity", .identity),
    Case("gzip, deflate, br, zstd", .brotli),
    Case("gzip,deflate", .gzip),
    Case("deflate", .identity),
    Case("*", .brotli),
    Case("compress, gzip", .gzip),
    // Weights.
    Case("gzip;q=1.0, br;q=0.5", .gzip),
    Case("gzip;q=0.5, br;q=0.501", .brotli),
    Case("gzip;q=0.5, br;q=0.500", .brotli),
    Case("br;q=0.001, gzip;q=0.002", .gzip),
    Case("gzip;q=1., br;q=0.9", .gzip),
    Case("gzip;q=1.000, br;q=0.999", .gzip),
    Case("gzip;q=0.1, *;q=0.2", .brotli),
    Case("gzip;q=0.2, *;q=0.1", .gzip),
    Case("gzip;Q=0.5, br;q=0.4", .gzip),
    Case("gzip ;\tq=0.5 ,\tbr; q=0.4", .gzip),
    // Refusals.
    Case("gzip;q=0", .identity),
    Case("gzip;q=0.000, br;q=0.", .identity),
    Case("br;q=0, *", .gzip),
    Case("gzip;q=0, br;q=0, *;q=1", .identity),
    Case("*;q=0", nil),
    Case("*;q=0, gzip", .gzip),
    Case("*;q=0, identity;q=0.5", .identity),
    Case("identity;q=0", nil),
    Case("identity;q=0, deflate", nil),
    Case("identity;q=0, gzip;q=0.001", .gzip),
    Case("identity;q=0, *;q=0.001", .brotli),
    // Identity, named and not.
    Case("identity, gzip;q=0.5", .identity),
    Case("identity;q=0.5, gzip;q=0.5", .gzip),
    Case("identity;q=0.5, gzip;q=0.4", .identity),
    Case("gzip;q=0.001", .gzip),
    Case("identity;q=0.5, *;q=0.4", .identity),
    // Names.
    Case("GZip", .gzip),
    Case("BR", .brotli),
    Case("x-gzip", .gzip),
    Case("X-GZIP;q=0.5, br;q=0.4", .gzip),
    Case("gzipped, xbr, br2, x-br", .identity),
    Case("IDENTITY;q=0", nil),
    // What is malformed is passed over.
    Case("gzip;q=1.1", .identity),
    Case("gzip;q=2, br;q=0.1", .brotli),
    Case("gzip;q=0.1234", .identity),
    Case("gzip;q=1.001", .identity),
    Case("gzip;q=10", .identity),
    Case("gzip;q=-1", .identity),
    Case("gzip;q=.5", .identity),
    Case("gzip;q=", .identity),
    Case("gzip;q", .identity),
    Case("gzip;", .identity),
    Case("gzip;q=0,5", .identity),
    Case("gzip;q=a", .identity),
    Case("gzip;q=0.a", .identity),
    Case("gzip;q =0.5", .identity),
    Case("gzip;q= 0.5", .identity),
    Case("gzip;q=\"0.5\"", .identity),
    Case("gzip;level=9", .identity),
    Case("gzip;q=0.5;level=9", .identity),
    Case("gzip br", .identity),
    Case(";q=1", .identity),
    Case("\u{0261}zip", .identity),
    Case("gzip;q=\u{0661}", .identity),
    Case("identity;q=0.0000", .identity),
    // Of a coding that is repeated the least weight counts.
    Case("gzip, gzip;q=0", .identity),
    Case("gzip;q=0, gzip", .identity),
    Case("x-gzip;q=0, gzip", .identity),
    Case("gzip;q=0.3, br;q=0.5, gzip;q=0.9", .brotli),
    Case("gzip;q=0.9, br;q=0.5, gzip;q=0.3", .brotli),
    Case("*, *;q=0", nil),
  ]

  @Test(arguments: usual)
  func `the best of brotli, gzip and identity`(_ test: Case) {
    #expect(AcceptEncoding(test.field).best(of: [.brotli, .gzip, .identity]) == test.best)
  }

  @Test func `at equal weights the order of what is available decides`() {
    let accepted = AcceptEncoding("br, gzip, identity")
    #expect(accepted.best(of: [.gzip, .brotli, .identity]) == .gzip)
    #expect(accepted.best(of: [.identity, .gzip, .brotli]) == .identity)
  }

  @Test(arguments: ["gzip;q=0.001", "*;q=0.001"])
  func `identity that is not named comes last, wherever it stands`(_ field: String) {
    #expect(AcceptEncoding(field).best(of: [.identity, .gzip]) == .gzip)
    #expect(AcceptEncoding(field).best(of: [.identity]) == .identity)
  }

  @Test func `nothing is chosen that is not available`() {
    for field in [nil, "", "br", "gzip;q=0", "identity"] as [String?] {
      #expect(AcceptEncoding(field).best(of: [.gzip]) == nil)
      #expect(AcceptEncoding(field).best(of: []) == nil)
    }
    #expect(AcceptEncoding("gzip").best(of: [.gzip]) == .gzip)
    #expect(AcceptEncoding("*").best(of: [.gzip]) == .gzip)
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever a field says, the choice is available and nowhere refused`(seed: UInt64) {
    var random = TestRandom(seed)
    let names = ["gzip", "x-gzip", "br", "identity", "*", "deflate"]
    let weights = ["", ";q=0", ";q=0.0", ";q=0.5", ";q=1", ";q=1.5", "; q=0.25", ";x"]
    for _ in 0..<5000 {
      var members: [(name: String, weight: String)] = []
      for _ in 0..<random.number(0...5) {
        members.append((random.one(of: names), random.one(of: weights)))
      }
      let field = members.map { $0.name + $0.weight }.joined(separator: ", ")
      let available = ContentCoding.allCases.shuffled(using: &random)
        .prefix(random.number(0...3))
      guard let best = AcceptEncoding(field).best(of: Array(available)) else { continue }
      let isRefused = members.contains {
        let isIt = $0.name == best.rawValue || ($0.name == "x-gzip" && best == .gzip)
        return isIt && ($0.weight == ";q=0" || $0.weight == ";q=0.0")
      }
      #expect(available.contains(best) && !isRefused, "\(field): \(best); \(TestRandom.replay)")
    }
  }

  @Test(arguments: [(ContentCoding.gzip, "gzip"), (.brotli, "br"), (.identity, "identity")])
  func `a coding has its registered name`(_ coding: ContentCoding, _ name: String) {
    #expect(coding.rawValue == name)
  }
}
