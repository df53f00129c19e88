import ArgumentParser
import Foundation
import MediaIndex

extension MediaIndexer {
  /// Looks into all of these, and says how far it is, what is wrong with which file, and what was done.
  ///
  /// - Throws: what the store throws; `ExitCode.failure` where something was wrong with a file.
  func run(_ targets: [MediaTarget], showing meter: ProgressMeter) throws {
    defer { meter.clear() }
    let addition = try run(
      targets, onRemark: { meter.report($0.description) },
      onProgress: { meter.show($0.progress(makesRenditions: maker != nil)) })
    meter.clear()
    addition.print(seconds: meter.seconds)
    if maker != nil { addition.printRenditions(isDry: isDry) }
    if addition.failed + addition.renditionsFailed > 0 { throw ExitCode.failure }
  }
}

extension MediaAddition {
  fileprivate func progress(makesRenditions: Bool) -> String {
    let found = "\(files) files, \(probed) probed"
    return makesRenditions ? found + ", \(renditionsMade) renditions made" : found
  }

  fileprivate func printRenditions(isDry: Bool) {
    var counts = ["\(renditionsMade) \(isDry ? "would be made" : "made")"]
    if renditionsKept > 0 { counts.append("\(renditionsKept) there already") }
    if renditionsDropped > 0 {
      counts.append("\(renditionsDropped) would save less than a tenth")
    }
    if renditionsFailed > 0 { counts.append("\(renditionsFailed) failed") }
    if renditionsRemoved > 0 {
      counts.append("\(renditionsRemoved) of contents that are gone removed")
    }
    lookahead.print("renditions: \(counts.joined(separator: ", "))")
  }

  fileprivate func print(seconds: Double) {
    var counts = [
      "\(probed) probed", "\(recognized) known by their content", "\(unchanged) unchanged",
    ]
    if passedOver > 0 { counts.append("\(passedOver) no media files") }
    if forgotten > 0 { counts.append("\(forgotten) forgotten") }
    if failed > 0 { counts.append("\(failed) failed") }
    let rate = seconds > 0 ? Int(Double(files) / seconds) : files
    let text = counts.joined(separator: ", ")
    lookahead.print("\(text) in \(String(format: "%.1f", seconds)) s, \(rate) a second")
    guard withoutDecoder > 0 else { return }
    printError(
      "ffmpeg is not installed: of \(withoutDecoder) files it is not known whether they decode, nor a "
        + "placeholder; lookahead media add --again finds it out once it is")
  }
}
