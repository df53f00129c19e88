import Foundation
import Lab
import Synchronization
import System

/// A file that the lab cannot take.
struct LabInputError: Error, CustomStringConvertible {
  let file: String
  let words: String

  var description: String { "\(file): \(words)" }
}

extension LabOptions {
  /// A file of the lab has no more bytes than that.
  private static let fileBytes = 64 << 20

  /// The files that an argument names: itself, or of a folder those with `.json` at their ends, by name.
  static func files(_ path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw LabInputError(file: path, words: "there is no such file")
    }
    guard isFolder.boolValue else { return [path] }
    return try FileSystem.names(in: path).filter { $0.hasSuffix(".json") }.sorted()
      .map { path + "/" + $0 }
  }

  static func content(_ path: String) throws -> [UInt8] {
    guard let file = FileHandle(forReadingAtPath: path),
      let data = try file.read(upToCount: fileBytes + 1)
    else { throw LabInputError(file: path, words: "cannot be read, or is empty") }
    guard data.count <= fileBytes else {
      throw LabInputError(file: path, words: "has more than \(fileBytes) bytes")
    }
    return Array(data)
  }

  /// Calls the body for each number below the count, `--jobs` at once.
  func perform(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let work = Work(count: count, body: body)
    runConcurrently(min(jobs, max(1, count))) { _ in work.run() }
  }

  /// The experiment's results, with a bar of how far it is on standard error.
  func results(of experiment: Experiment) -> ExperimentResults {
    let meter = ProgressMeter()
    defer { meter.clear() }
    if let precision {
      let results = experiment.results(
        precise: Double(precision), atMost: Self.mostRepeats, perform, progress: Self.show(meter))
      if !results.isPrecise(Double(precision)) {
        meter.report("after \(results.repeats) repeats some loaders are known less closely")
      }
      return results
    }
    let count = experiment.runCount
    let show = Self.show(meter)
    return experiment.results(perform) { done in show(done, count) }
  }

  /// `--precision` makes no more.
  private static let mostRepeats = 1_000

  static func show(_ meter: ProgressMeter) -> @Sendable (Int, Int) -> Void {
    { done, count in
      if done % 16 == 0 || done == count { meter.show(bar(done, of: count)) }
    }
  }

  private static func bar(_ done: Int, of count: Int) -> String {
    let filled = done * 30 / max(1, count)
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: 30 - filled) + "] \(done) of \(count) runs"
  }

  /// Says what is scrolled, where that is not made up: on standard error, for it is no part of the results.
  func tell(_ words: String) {
    if feed.feed != nil || !feed.input.isEmpty { ProgressMeter().report(words) }
  }

  func write(_ results: ExperimentResults) {
    switch format {
    case .table: printText(results.table(margin: Double(margin)))
    case .csv: printText(results.csv)
    case .json: print(String(decoding: results.json(margin: Double(margin)), as: UTF8.self))
    }
  }

  func write(_ tuning: Tuning, _ evidence: TuningEvidence) {
    let margin = Double(margin)
    switch format {
    case .table: printText(tuning.table(margin: margin))
    case .csv: printText(tuning.csv)
    case .json: print(String(decoding: tuning.json(evidence, margin: margin), as: UTF8.self))
    }
  }
}

/// Numbered work that threads take from each other.
private final class Work: Sendable {
  private let next = Atomic(0)
  private let count: Int
  private let body: @Sendable (Int) -> Void

  init(count: Int, body: @escaping @Sendable (Int) -> Void) {
    self.count = count
    self.body = body
  }

  func run() {
    while true {
      let index = next.add(1, ordering: .relaxed).oldValue
      guard index < count else { return }
      body(index)
    }
  }
}
