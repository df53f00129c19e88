/// A fuzzer's input: the first byte chooses between ways to read the others.
struct FuzzInput {
  let choice: UInt8
  let content: [UInt8]

  init(_ bytes: [UInt8]) {
    choice = bytes.first ?? 0
    content = Array(bytes.dropFirst())
  }

  /// The content as one piece, byte by byte, and in pieces of lengths that depend on `choice`:
  /// where each piece ends.
  var cuts: [[Int]] {
    [[content.count], Array(content.indices.map { $0 + 1 }), irregularCut]
  }

  private var irregularCut: [Int] {
    var ends: [Int] = []
    var end = 0
    var state = UInt32(choice) &+ 1
    while end < content.count {
      // Numerical Recipes' linear congruence; its upper bits are the better ones.
      state = state &* 1_664_525 &+ 1_013_904_223
      // Mostly a few bytes, at times so many that several lines arrive at once.
      let longest: UInt32 = state >> 30 == 0 ? 200 : 12
      end = min(content.count, end + 1 + Int((state >> 16) % longest))
      ends.append(end)
    }
    return ends
  }
}
