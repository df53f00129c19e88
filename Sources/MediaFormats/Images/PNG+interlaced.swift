extension PNG {
  /// Adam7 (section 8.1): where each pass begins, and how far apart its pixels are.
  private static let passes: [(x: Int, y: Int, stepX: Int, stepY: Int)] = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
  ]

  /// Where the data of each of the passes end that has any pixels. The image's data are one stream of
  /// deflate in all `IDAT` chunks, so that it has to be followed; what it says of itself is not kept.
  func interlacedScanEnds(_ header: Header) throws -> [Int64] {
    let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][header.colourType] ?? 1
    var scanEnds: [Int64] = []
    var stream = DeflateMeter(reader: reader, ranges: dataRanges)
    var rawBytes: Int64 = 0
    for pass in Self.passes {
      let width = (header.size.width - pass.x + pass.stepX - 1) / pass.stepX
      let height = (header.size.height - pass.y + pass.stepY - 1) / pass.stepY
      guard width > 0, height > 0 else { continue }
      // Each row begins with a byte that names its filter.
      let rowBytes = (Int64(width) * Int64(channels * header.bitDepth) + 7) / 8 + 1
      rawBytes += rowBytes * Int64(height)
      guard let end = try stream.inputEnd(ofOutput: rawBytes) else { return scanEnds }
      scanEnds.append(end)
    }
    return scanEnds
  }
}
