extension MediaSample {
  private typealias Bytes = MediaBytes

  static let passive = images + isoMedia + containers + sounds + streams

  static let images: [MediaSample] = [
    MediaSample("image/jpeg", "a.jpg", Bytes.hex("ffd8ffe0")),
    MediaSample("image/png", "a.png", Bytes.hex("89504e470d0a1a0a 0000000d") + Bytes.text("IHDR")),
    MediaSample("image/png", "x.html", Bytes.hex("89504e470d0a1a0a")),
    MediaSample("image/gif", "a", Bytes.text("GIF87a") + [1, 0]),
    MediaSample("image/gif", "a.svg", Bytes.text("GIF89a") + [1, 0]),
    MediaSample(
      "image/webp", "a.jpg", Bytes.text("RIFF") + [0x3c, 0, 0, 0] + Bytes.text("WEBPVP8L")),
    MediaSample("image/jxl", "a.jxl", Bytes.hex("ff0a7f")),
    MediaSample("image/jxl", "a.jxl", Bytes.hex("0000000c 4a584c20 0d0a870a")),
    MediaSample(
      "image/bmp", "a.bmp", Bytes.hex("424d 36000000 00000000 36000000 28000000 01000000")),
  ]

  static let isoMedia: [MediaSample] = [
    MediaSample("image/avif", "a.avif", Bytes.brands("avif", "mif1", "miaf")),
    MediaSample("image/avif", "a.jpg", Bytes.brands("mif1", "miaf", "avif")),
    MediaSample("image/avif", "a.avif", Bytes.brands("avis", "msf1", "iso8")),
    MediaSample("image/heic", "a.heic", Bytes.brands("mif1", "heic")),
    MediaSample("image/heic-sequence", "a.heic", Bytes.brands("hevc", "msf1")),
    MediaSample("image/heif", "a.mp4", Bytes.brands("mif1", "miaf")),
    MediaSample("video/mp4", "a.mp4", Bytes.brands("isom", "iso2", "avc1")),
    MediaSample("video/mp4", "a.mp4", Bytes.brands("iso5")),
    MediaSample("video/mp4", "a", Bytes.brands("dash", "iso6")),
    MediaSample("video/mp4", "a.mov", Bytes.brands("mp42")),
    MediaSample("video/mp4", "a.mp4", Bytes.brands("XXXX", "YYYY", "mp41")),
    MediaSample("audio/mp4", "a.M4A", Bytes.brands("isom", "mp42")),
    MediaSample("audio/mp4", "a.mp4", Bytes.brands("M4A ", "isom")),
    MediaSample("video/mp4", "a.m4a", Bytes.brands("M4V ", "isom")),
    MediaSample("video/quicktime", "a.mp4", Bytes.brands("qt  ")),
    MediaSample("video/3gpp", "a.3gp", Bytes.brands("3gp4", "isom")),
    MediaSample("video/3gpp2", "a.3g2", Bytes.brands("3g2a")),
    MediaSample("video/mp4", "a.mp4", Array(Bytes.brands("isom", "iso2").prefix(16))),
    MediaSample("video/quicktime", "a.mov", Bytes.box("moov", Bytes.box("mvhd", [0]))),
    MediaSample(
      "video/quicktime", "a", Bytes.box("wide", []) + Bytes.number(0) + Bytes.text("mdat")),
    MediaSample(
      "video/quicktime", "a.jpg",
      Bytes.box("free", [1, 2]) + Bytes.box("skip", []) + Bytes.number(1) + Bytes.text("mdat")),
    MediaSample("video/mp4", "a.mp4", Bytes.box("moov", [])),
  ]

  static let containers: [MediaSample] = [
    MediaSample("video/webm", "a.webm", Bytes.ebml(Bytes.text("webm"))),
    MediaSample("video/webm", "a.mkv", Bytes.ebml(Bytes.text("webm\0\0"), before: [])),
    MediaSample("audio/webm", "a.weba", Bytes.ebml(Bytes.text("webm"))),
    MediaSample("video/matroska", "a.webm", Bytes.ebml(Bytes.text("matroska"))),
    MediaSample("audio/matroska", "a.mka", Bytes.ebml(Bytes.text("matroska"))),
    MediaSample("video/ogg", "a.ogg", Bytes.oggPage([0x80] + Bytes.text("theora"))),
    MediaSample(
      "video/ogg", "a.oga",
      Bytes.oggPage(Bytes.text("fishead\0")) + Bytes.oggPage([1] + Bytes.text("vorbis"))
        + Bytes.oggPage([0x80] + Bytes.text("theora"))),
    MediaSample("audio/ogg", "a.ogv", Bytes.oggPage(Bytes.text("OpusHead"))),
    MediaSample(
      "audio/ogg", "a",
      Bytes.oggPage([1] + Bytes.text("vorbis"))
        + Bytes.oggPage([0x80] + Bytes.text("theora"), flags: 0)),
    MediaSample("audio/ogg", "a.oga", Bytes.oggPage([0x7f] + Bytes.text("FLAC"))),
    MediaSample("application/ogg", "a.jpg", Bytes.oggPage(Bytes.text("CELT    "))),
    MediaSample("audio/ogg", "a.ogg", Bytes.oggPage(Bytes.text("CELT    "))),
    MediaSample("video/ogg", "a.ogv", Bytes.oggPage(Bytes.text("daala"))),
  ]

  static let sounds: [MediaSample] = [
    MediaSample("audio/wav", "a.wav", Bytes.text("RIFF\0\0\0\0WAVEfmt ")),
    MediaSample("audio/flac", "a.flac", Bytes.text("fLaC") + Bytes.hex("00000022")),
    MediaSample("audio/flac", "a.mp3", Bytes.text("fLaC") + Bytes.hex("80000022")),
    MediaSample("audio/mpeg", "a.mp3", Bytes.text("ID3") + Bytes.hex("0400 00 00000f76")),
    MediaSample("audio/aac", "a.aac", Bytes.text("ID3") + Bytes.hex("0400 00 00000f76")),
    // 128 kbit/s at 44.1 kHz with padding; 320 kbit/s at 32 kHz; MPEG 2: 64 kbit/s at 22.05 kHz;
    // MPEG 2.5: 8 kbit/s at 8 kHz.
    MediaSample("audio/mpeg", "a.mp3", Bytes.frames("fffb9264", bytes: 418)),
    MediaSample("audio/mpeg", "a.aac", Bytes.frames("fffbe800", bytes: 1440)),
    MediaSample("audio/mpeg", "a", Bytes.frames("fff380c0", bytes: 208)),
    MediaSample("audio/mpeg", "a", Bytes.frames("ffe318c4", bytes: 72)),
    // 371 bytes; the second with a checksum.
    MediaSample("audio/aac", "a.aac", Bytes.frames("fff15080 2e7ffc", bytes: 371)),
    MediaSample("audio/aac", "a.mp3", Bytes.frames("fff05080 2e7ffc", bytes: 371)),
  ]

  static let streams: [MediaSample] = [
    MediaSample("video/mp2t", "a.ts", Bytes.packets(3)),
    MediaSample("video/mp2t", "a.js", Bytes.packets(30)),
    MediaSample("application/vnd.apple.mpegurl", "a.m3u8", Bytes.text("#EXTM3U\n#EXT-X-VERSION:3")),
    MediaSample("application/vnd.apple.mpegurl", "a.html", Bytes.text("#EXTM3U\r\n")),
    MediaSample("text/vtt", "a.vtt", Bytes.text("WEBVTT")),
    MediaSample("text/vtt", "a.txt", Bytes.text("\u{feff}WEBVTT - title\n")),
  ]
}
