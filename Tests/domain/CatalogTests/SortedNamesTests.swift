import Feed
import TestSupport
import Testing

@testable import Catalog

@Suite struct SortedNamesTests {
  private static func all(_ names: SortedNames) -> [ByteText] {
    names.names(from: names.start, to: names.end)
  }

  /// Names that differ in their bytes alone among them, and enough of them for several chunks.
  private static func name(_ random: inout TestRandom) -> ByteText {
    ByteText(["é", "e\u{301}", "n"][random.number(0...2)] + String(random.number(0...900)))
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever comes and goes, they are in order, each once`(seed: UInt64) {
    var random = TestRandom(seed)
    var names = SortedNames()
    var model: Set<ByteText> = []
    for round in 0..<6 {
      for _ in 0..<1_500 {
        let name = Self.name(&random)
        // By turns most come and most go.
        if random.chance(round.isMultiple(of: 2) ? 80 : 20) {
          names.insert(name)
          model.insert(name)
        } else {
          names.remove(name)
          model.remove(name)
        }
      }
      #expect(Self.all(names) == model.sorted(), TestRandom.replay)
    }
    for name in model { names.remove(name) }
    #expect(names.start == names.end)
  }

  @Test(arguments: TestRandom.seeds)
  func `places are where an array has them`(seed: UInt64) {
    var random = TestRandom(seed)
    let model = Set((0..<2_000).map { _ in Self.name(&random) }).sorted()
    let names = SortedNames(model)
    func offset(_ place: SortedNames.Place) -> Int {
      names.names(from: names.start, to: place).count
    }
    for _ in 0..<300 {
      let name = Self.name(&random)
      let before = names.place(before: name)
      let after = names.place(after: name)
      #expect(offset(before) == model.count { $0 < name }, TestRandom.replay)
      #expect(offset(after) == model.count { !(name < $0) }, TestRandom.replay)
      let count = random.number(0...700)
      let (low, high) = (names.place(before: model[300]), names.place(before: model[900]))
      for place in [before, after] where low <= place && place <= high {
        #expect(
          offset(names.place(count, below: place, limit: high)) == min(offset(place) + count, 900),
          TestRandom.replay)
        #expect(
          offset(names.place(count, above: place, limit: low)) == max(offset(place) - count, 300),
          TestRandom.replay)
      }
    }
  }
}
