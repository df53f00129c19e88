import Testing

@testable import MediaFormats

/// The real files beside the project, and what their makers say of them.
@Suite(.enabled(if: SharedMedia.arePresent, "the real media are not beside the project"))
struct SharedMediaTests {
  @Test(arguments: SharedMedia.whole)
  func `a real file is read as its makers say`(_ entry: SharedMedia.Entry) throws {
    let truth = try #require(entry.truth)
    let found = try MediaStructure(reading: BytesInMemory(try SharedMedia.bytes(of: entry)))
    #expect(found.type.value == truth.mime)
    #expect(found.bytes == truth.bytes)
    #expect(found.flaws.isEmpty)
    // The manifest has the size as stored where it has another one as displayed.
    let shown = found.displaySize
    if let width = truth.display_width, let height = truth.display_height {
      #expect(shown == PixelSize(width: width, height: height))
      #expect(found.codedSize?.width == truth.width && found.codedSize?.height == truth.height)
    } else if truth.sample_aspect_ratio == "4:3" {
      #expect(shown == PixelSize(width: 427, height: 240))
      #expect(found.codedSize?.width == truth.width && found.codedSize?.height == truth.height)
    } else {
      #expect(shown?.width == truth.width && shown?.height == truth.height)
    }
    if let orientation = truth.exif_orientation {
      #expect(found.orientation.exifValue == orientation)
    }
    if let frames = truth.frames { #expect(found.frameCount == frames) }
    if let codec = truth.video_codec { #expect(found.videoCodec == codec) }
    #expect(found.audioCodec == truth.audio_codec)
    #expect(truth.has_audio == nil || found.hasSound == truth.has_audio)
    if let seconds = truth.duration_s {
      // ffprobe takes what only the decoder hears of a sound's beginning for sound.
      let milliseconds = try #require(found.durationMilliseconds)
      #expect(abs(Double(milliseconds) - seconds * 1000) < 10)
    }
    switch truth.moov {
    case "before-mdat": #expect(found.layout == .tablesInFront)
    case "after-mdat": #expect(found.layout == .tablesBehind)
    case "fragmented": #expect(found.layout == .fragmented)
    default: #expect(found.layout == .stream)
    }
    MovieModelTests.checkOrder(found)
  }

  @Test(arguments: SharedMedia.broken)
  func `a broken file is an error that says where, or says what is missing`(
    _ entry: SharedMedia.Entry
  ) throws {
    let bytes = try SharedMedia.bytes(of: entry)
    let expected: FormatError.Reason? =
      switch entry.path {
      case "broken/truncated_moov_lost.mp4": .cutShort(neededBytes: 1_051_507)
      case "broken/zero.mp4", "broken/zero.jpg": .empty
      case "broken/html_named.gif": .unknownFormat
      case "broken/huge_dims.jpg": .tooMany(.pixels, limit: MediaLimits().pixels)
      case "broken/chunk_len_ffffffff.png":
        .malformed("the chunk states a length of 4294967295 bytes, more than PNG allows")
      case "broken/box_size_4_loop.mp4":
        .malformed("the box states a length of 4 bytes, shorter than its header")
      case "broken/deep_nesting.mp4": .malformed("it has no mvhd")
      case "broken/timescale_zero.mp4": .malformed("its timescale is 0 ticks a second")
      default: nil
      }
    if let expected {
      #expect(MovieTests.error(bytes)?.reason == expected)
      return
    }
    let found = try MediaStructure(reading: BytesInMemory(bytes))
    switch entry.path {
    case "broken/truncated_faststart.mp4":
      #expect(found.flaws == [.cutShort(neededBytes: 1_055_836)])
    case "broken/truncated.gif": #expect(found.flaws == [.cutShort(neededBytes: 201)])
    default:
      // A wrong name, a text that would inflate, a script: nothing that concerns who reads the structure.
      #expect(found.flaws.isEmpty)
    }
  }

  @Test(arguments: SharedMedia.whole.filter { $0.truth?.moov != nil && $0.truth?.moov != "none" })
  func `of a movie only its tables and a window are read`(_ entry: SharedMedia.Entry) throws {
    let source = CountingSource(try SharedMedia.bytes(of: entry))
    let found = try MediaStructure(reading: source)
    switch found.layout {
    case .tablesInFront: #expect(source.bytesRead <= found.start.headBytes + 64 << 10)
    case .tablesBehind:
      let tables = found.start.neededRanges[1]
      #expect(source.bytesRead <= Int64(tables.count) + 64 << 10)
    default: break
    }
  }
}
