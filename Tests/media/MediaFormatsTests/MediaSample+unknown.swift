extension MediaSample {
  private typealias Bytes = MediaBytes

  private static func unknown(_ name: String, _ head: [UInt8]) -> MediaSample {
    MediaSample("application/octet-stream", name, head)
  }

  private static func unknown(_ name: String, _ text: String) -> MediaSample {
    unknown(name, Bytes.text(text))
  }

  static let unknown = active + cut + nearly

  /// What a browser could run, under names that promise something else.
  static let active: [MediaSample] = [
    unknown("evil.jpg", "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>"),
    unknown("evil.png", "<script>alert(1)</script>"),
    unknown("evil.gif", " \t\r\n\u{c}<!doctype html>"),
    unknown("evil.mp4", "\u{feff}<html>"),
    unknown("evil.webp", [0xff, 0xfe] + Bytes.hex("3c00 6800")),
    unknown("evil.vtt", "<?xml version=\"1.0\"?>"),
    unknown("live.mpd", "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"/>"),
    unknown("evil.mov", "<aaamoov"),
    unknown("a.js", "alert(1)"), unknown("a.svgz", Bytes.hex("1f8b08")),
    unknown("a.pdf", "%PDF-1.7"), unknown("a.swf", "CWS\u{7}"), unknown("a.json", "{}"),
    unknown("a.css", "body {}"), unknown("a.txt", "Good day"), unknown("a.jpg", "plain"),
  ]

  /// Signatures that end too early.
  static let cut: [MediaSample] = [
    unknown("a.jpg", ""), unknown("a.mp4", ""), unknown("a.jpg", Bytes.hex("ffd8")),
    unknown("a.png", Bytes.hex("89504e470d0a1a")), unknown("a.gif", "GIF89"),
    unknown("a.webp", "RIFF\0\0\0\0WEBP"), unknown("a.mp4", "\0\0\0\u{18}ftyp"),
    unknown("a.webm", Bytes.hex("1a45dfa3")),
    unknown("a.webm", Array(Bytes.ebml(Bytes.text("webm")).dropLast(5))),
    unknown("a.mp3", "ID3"), unknown("a.mp3", Bytes.frames("fffb9264", bytes: 418, count: 1)),
    unknown("a.ts", Bytes.packets(2)), unknown("a.ogg", "OggS"), unknown("a.flac", "fLaC"),
  ]

  /// Texts and files that have only something of a signature.
  static let nearly: [MediaSample] = [
    unknown("a.bmp", "BMW is a maker of cars"), unknown("a.mp3", "ID3 is a format of tags"),
    unknown("a.bmp", Bytes.hex("424d 36000000 00010000 36000000 28000000 01000000")),
    unknown("a.bmp", Bytes.hex("424d 36000000 00000000 36000000 28010000 01000000")),
    unknown("a.gif", "GIF90a"), unknown("a.avi", "RIFF\0\0\0\0AVI LIST"),
    unknown("a.vtt", "WEBVTTs"), unknown("a.m3u8", "#EXTM3U8"), unknown("a.m3u8", " #EXTM3U"),
    unknown("a.mp4", Bytes.box("ftyp", [])), unknown("a.mp4", Bytes.brands("crx ", "XXXX")),
    unknown("a.mp4", Bytes.number(17) + Bytes.text("ftypisom") + Bytes.number(0)),
    unknown("a.mov", Bytes.number(2) + Bytes.text("moov")),
    unknown("a.mov", Bytes.number(0) + Bytes.text("free") + Bytes.box("moov", [])),
    unknown("a.mov", Bytes.box("free", []) + Bytes.box("evil", [])),
    unknown("a.webm", Bytes.ebml(Bytes.text("webmx"))), unknown("a.webm", Bytes.ebml([])),
    unknown("a.webm", Bytes.hex("1a45dfa3 ffffffffffffffff ffffffffffffffff")),
    unknown("a.ts", Bytes.packets(3) + Bytes.text("x") + Bytes.packets(1) + [0]),
    // Layer II; a bit rate that is free; a sample rate that is none; a second frame that is none.
    unknown("a.mp3", Bytes.frames("fffd9264", bytes: 418)),
    unknown("a.mp3", Bytes.frames("fffb0264", bytes: 418)),
    unknown("a.mp3", Bytes.frames("fffb9e64", bytes: 418)),
    unknown("a.mp3", Bytes.frames("fffb9264", bytes: 419)),
    unknown("a.aac", Bytes.frames("fff15080 001ffc", bytes: 371)),
    unknown("a.flac", Bytes.text("fLaC") + Bytes.hex("04000022")),
  ]
}
