import JSON

/// A comparison of the simulation with the real client: the same strategies through the client library on a
/// real server over a shaped link, and through the simulated link.
package struct Validation: Sendable {
  /// One strategy with the figures of both.
  package struct Pair: Hashable, Sendable {
    /// The strategy.
    package let name: String
    /// Loaders per 1000 items, measured.
    package let measuredLoaders: Double
    /// Loaders per 1000 items, simulated.
    package let simulatedLoaders: Double
    /// Kilobytes (1000 bytes) of media an item, measured.
    package let measuredKilobytes: Double
    /// Kilobytes of media an item, simulated.
    package let simulatedKilobytes: Double
    /// Milliseconds of delay an item, measured and simulated; `nil` in files from before 2026-11-25.
    package let measuredDelay: Double?
    package let simulatedDelay: Double?
    /// The mean bitrate of what was watched, in kilobits a second, measured and simulated; `nil` if no clip
    /// played, and in files from before 2026-11-26.
    package let measuredBitrate: Double?
    package let simulatedBitrate: Double?

    /// Creates the figures of a strategy.
    package init(
      name: String, measuredLoaders: Double, simulatedLoaders: Double, measuredKilobytes: Double,
      simulatedKilobytes: Double, measuredDelay: Double? = nil, simulatedDelay: Double? = nil,
      measuredBitrate: Double? = nil, simulatedBitrate: Double? = nil
    ) {
      self.measuredBitrate = measuredBitrate
      self.simulatedBitrate = simulatedBitrate
      self.measuredDelay = measuredDelay
      self.simulatedDelay = simulatedDelay
      self.name = name
      self.measuredLoaders = measuredLoaders
      self.simulatedLoaders = simulatedLoaders
      self.measuredKilobytes = measuredKilobytes
      self.simulatedKilobytes = simulatedKilobytes
    }

    /// The error of the simulated loaders, in percent of the measured ones; below ten loaders per 1000, in
    /// percent of ten.
    package var errorPercent: Double {
      abs(simulatedLoaders - measuredLoaders) * 100 / max(measuredLoaders, Validation.leastLoaders)
    }

    /// The error of the simulated bitrate, in percent of the measured one; `nil` if one of them is unknown.
    package var bitrateErrorPercent: Double? {
      guard let measuredBitrate, let simulatedBitrate, measuredBitrate > 0 else { return nil }
      return abs(simulatedBitrate - measuredBitrate) * 100 / measuredBitrate
    }
  }

  static let leastLoaders = 10.0

  /// The strategies.
  package let pairs: [Pair]
  /// The greatest difference in loaders per 1000 that does not matter.
  package let margin: Double

  /// Creates a comparison of these strategies.
  package init(_ pairs: [Pair], margin: Double) {
    self.pairs = pairs
    self.margin = margin
  }

  /// The mean of the strategies' errors of loaders.
  package var meanErrorPercent: Double {
    pairs.reduce(0) { $0 + $1.errorPercent } / Double(max(1, pairs.count))
  }

  /// The mean of the strategies' errors of the bitrate; `nil` if none is known.
  package var meanBitrateErrorPercent: Double? {
    let errors = pairs.compactMap(\.bitrateErrorPercent)
    return errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count)
  }

  /// Spearman's rank correlation of measured and simulated loaders, with shared ranks for equal values; 0 if
  /// all are equal.
  package var rankCorrelation: Double {
    let (left, right) = (
      Self.ranks(pairs.map(\.measuredLoaders)), Self.ranks(pairs.map(\.simulatedLoaders))
    )
    let middle = Double(pairs.count + 1) / 2
    var (product, first, second) = (0.0, 0.0, 0.0)
    for (left, right) in zip(left, right) {
      product += (left - middle) * (right - middle)
      first += (left - middle) * (left - middle)
      second += (right - middle) * (right - middle)
    }
    return first > 0 && second > 0 ? product / (first * second).squareRoot() : 0
  }

  private static func ranks(_ values: [Double]) -> [Double] {
    values.map { value in
      let (less, same) = (values.count { $0 < value }, values.count { $0 == value })
      return Double(less) + Double(same + 1) / 2
    }
  }

  /// Pairs of strategies in the wrong order: one was measured better by more than the margin, but is worse in
  /// the simulation.
  package var wrongPairs: [(better: String, worse: String)] {
    var wrong: [(better: String, worse: String)] = []
    for left in pairs {
      for right in pairs
      where right.measuredLoaders - left.measuredLoaders > margin
        && left.simulatedLoaders > right.simulatedLoaders
      {
        wrong.append((better: left.name, worse: right.name))
      }
    }
    return wrong
  }

  /// The minimum rank correlation, and the maximum mean error in percent (of loaders, and of bitrates), of a
  /// valid simulation.
  package static let (leastRankCorrelation, mostMeanErrorPercent) = (0.95, 10.0)

  /// Whether the simulation is valid.
  package var holds: Bool {
    rankCorrelation >= Self.leastRankCorrelation && wrongPairs.isEmpty
      && meanErrorPercent <= Self.mostMeanErrorPercent
      && meanBitrateErrorPercent ?? 0 <= Self.mostMeanErrorPercent
  }

  /// The verdict in a sentence.
  package var sentence: String {
    let wrong = wrongPairs.map { "\($0.better) and \($0.worse)" }.joined(separator: ", ")
    let bitrates =
      meanBitrateErrorPercent.map { "mean error of bitrates \(fixed($0, 1)) %, " } ?? ""
    return
      "rank correlation \(fixed(rankCorrelation, 2)), mean error \(fixed(meanErrorPercent, 1)) %, "
      + bitrates
      + (wrong.isEmpty
        ? "no pair in the wrong order beyond \(fixed(margin, 0))" : "in the wrong order: \(wrong)")
      + ": the simulation " + (holds ? "holds" : "does not hold")
  }

  /// A table of the measured and the simulated figures.
  package var table: String {
    var rows = [
      [
        "strategy", "measured", "simulated", "error %", "delay ms", "simulated", "KB/item",
        "simulated", "kbit/s", "simulated",
      ]
    ]
    for pair in pairs {
      rows.append([
        pair.name, fixed(pair.measuredLoaders, 1), fixed(pair.simulatedLoaders, 1),
        fixed(pair.errorPercent, 1), pair.measuredDelay.map { fixed($0, 1) } ?? "",
        pair.simulatedDelay.map { fixed($0, 1) } ?? "", fixed(pair.measuredKilobytes, 1),
        fixed(pair.simulatedKilobytes, 1), pair.measuredBitrate.map { fixed($0, 0) } ?? "",
        pair.simulatedBitrate.map { fixed($0, 0) } ?? "",
      ])
    }
    return ExperimentResults.aligned(rows, texts: [0]) + "\n" + sentence + "\n"
  }
}

/// A validation as JSON: `lab validate --json` writes it, and a report reads it.
extension Validation {
  /// An object with the margin, the sentence, and both figures of each strategy.
  package var json: [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.key("margin")
      writer.raw(fixed(margin, 1).utf8)
      writer.member("sentence", sentence)
      writer.array("validation") { writer in
        for pair in pairs {
          writer.object { writer in
            writer.member("strategy", pair.name)
            for (name, number): (String, Double?) in [
              ("measuredLoaders", pair.measuredLoaders),
              ("simulatedLoaders", pair.simulatedLoaders),
              ("measuredKilobytes", pair.measuredKilobytes),
              ("simulatedKilobytes", pair.simulatedKilobytes),
              ("measuredDelayMilliseconds", pair.measuredDelay),
              ("simulatedDelayMilliseconds", pair.simulatedDelay),
              ("measuredBitrate", pair.measuredBitrate),
              ("simulatedBitrate", pair.simulatedBitrate),
            ] {
              guard let number else { continue }
              writer.key(text: name)
              writer.raw(fixed(number, 3).utf8)
            }
          }
        }
      }
    }
    return writer.bytes
  }

  /// Reads a validation.
  ///
  /// - Throws: `ValidationFileError`.
  package init(json: [UInt8]) throws(ValidationFileError) {
    let root: JSONValue
    do throws(JSONError) {
      root = try JSONDocument(json).root
    } catch {
      throw .json(error)
    }
    guard let list = root.member("validation"), list.kind == .array,
      let margin = root.member("margin")?.number
    else { throw .missing("validation") }
    var pairs: [Pair] = []
    for value in list.elements {
      func number(_ name: String) throws(ValidationFileError) -> Double {
        guard let number = value.member(name)?.number, (0...1e9).contains(number) else {
          throw .missing(name)
        }
        return number
      }
      guard let name = value.member("strategy")?.text, pairs.count < Self.pairLimit else {
        throw .missing("strategy")
      }
      pairs.append(
        Pair(
          name: name, measuredLoaders: try number("measuredLoaders"),
          simulatedLoaders: try number("simulatedLoaders"),
          measuredKilobytes: try number("measuredKilobytes"),
          simulatedKilobytes: try number("simulatedKilobytes"),
          measuredDelay: value.member("measuredDelayMilliseconds")?.number,
          simulatedDelay: value.member("simulatedDelayMilliseconds")?.number,
          measuredBitrate: value.member("measuredBitrate")?.number,
          simulatedBitrate: value.member("simulatedBitrate")?.number))
    }
    self.init(pairs, margin: margin)
  }

  private static let pairLimit = 1_000
}

/// The reason why a file is not a validation.
package enum ValidationFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is not JSON.
  case json(JSONError)
  /// This member is absent or invalid.
  case missing(String)

  /// For example `"validation" is missing or invalid: expected the output of lab validate --json`.
  package var description: String {
    switch self {
    case .json(let error): "the file is not JSON: \(error)"
    case .missing(let name):
      "\"\(name)\" is missing or invalid: expected the output of lab validate --json"
    }
  }
}
