import Testing

@testable import Lab

/// The simulation beside the real thing.
@Suite struct ValidationTests {
  private static func pairs(_ values: [(Double, Double)]) -> [Validation.Pair] {
    values.enumerated().map { index, value in
      Validation.Pair(
        name: "s\(index)", measuredLoaders: value.0, simulatedLoaders: value.1,
        measuredKilobytes: 50, simulatedKilobytes: 51)
    }
  }

  @Test func `the rank correlation is Spearman's, equals sharing their ranks`() {
    func correlation(_ values: [(Double, Double)]) -> Double {
      Validation(Self.pairs(values), margin: 2).rankCorrelation
    }
    #expect(correlation([(1, 10), (2, 20), (3, 30)]) == 1)
    #expect(correlation([(1, 3), (2, 2), (3, 1)]) == -1)
    // Ranks 1 2 3 4 and 1 3 2 4: 1 − 6·2 / (4·15).
    #expect(abs(correlation([(1, 1), (2, 3), (3, 2), (4, 4)]) - 0.8) < 1e-12)
    // Ranks 1.5 1.5 3 and 1 2 3.
    #expect(abs(correlation([(5, 1), (5, 2), (9, 3)]) - 0.866_025_403_784) < 1e-9)
    #expect(correlation([(5, 1), (5, 2)]) == 0 && correlation([]) == 0)
  }

  @Test
  func `a pair is in the wrong order where what was measured differs by more than the margin`() {
    let validation = Validation(Self.pairs([(10, 30), (11, 20), (25, 25), (25, 26)]), margin: 2)
    #expect(validation.wrongPairs.map { [$0.better, $0.worse] } == [["s0", "s2"], ["s0", "s3"]])
    #expect(!validation.holds && validation.sentence.contains("in the wrong order: s0 and s2"))
  }

  @Test func `it is written and read back, and what is none is refused in words`() throws {
    let validation = Validation(Self.pairs([(100, 90.5), (0, 1)]), margin: 3)
    let read = try Validation(json: validation.json)
    #expect(read.pairs == validation.pairs && read.margin == 3)
    for (text, words) in [
      ("[", "not JSON"), ("{}", "\"validation\" is missing"),
      (
        #"{"margin":2,"validation":[{"strategy":"a","measuredLoaders":-1}]}"#, "\"measuredLoaders\""
      ),
      (#"{"margin":2,"validation":[{"strategy":7}]}"#, "\"strategy\""),
    ] {
      let error = #expect(throws: ValidationFileError.self) {
        try Validation(json: Array(text.utf8))
      }
      #expect(error?.description.contains(words) == true, "\(text)")
    }
  }

  @Test func `errors are shares of what was measured, and of ten where that is less`() {
    let validation = Validation(
      Self.pairs([(100, 90), (0, 1), (1_000, 1_000), (40, 44)]), margin: 2)
    #expect(validation.pairs.map(\.errorPercent) == [10, 10, 0, 10])
    #expect(validation.meanErrorPercent == 7.5 && validation.holds)
    let cells = validation.table.split(separator: "\n")[1].split(separator: " ")
    #expect(cells == ["s0", "100.0", "90.0", "10.0", "50.0", "51.0"])
    #expect(
      validation.table.hasSuffix(
        "rank correlation 1.00, mean error 7.5 %, no pair in the wrong order beyond 2: the simulation holds\n"
      ))
  }

  @Test func `a simulation whose bitrates are others is not believed`() throws {
    func validation(_ simulated: Double?) -> Validation {
      Validation(
        (0..<2).map {
          Validation.Pair(
            name: "s\($0)", measuredLoaders: Double(100 * $0), simulatedLoaders: Double(100 * $0),
            measuredKilobytes: 50, simulatedKilobytes: 51, measuredBitrate: 1_000,
            simulatedBitrate: simulated)
        }, margin: 2)
    }
    #expect(validation(1_100).meanBitrateErrorPercent == 10 && validation(1_100).holds)
    #expect(validation(880).sentence.contains("of bitrates 12.0 %") && !validation(880).holds)
    #expect(validation(nil).meanBitrateErrorPercent == nil && validation(nil).holds)
    #expect(try Validation(json: validation(880).json).pairs == validation(880).pairs)
  }
}
