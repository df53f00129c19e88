import Foundation
import TestSupport

/// Media files that FFmpeg makes, once a run: `script/setup --tests` installs it.
enum MadeMedia {
  private static let folder = TemporaryFolder()

  /// A clip of two seconds, 160 × 90, with sound, its tables in front.
  static let clip = make("clip.mp4", clipArguments + ["-movflags", "+faststart"])
  /// The same with its tables behind.
  static let clipWithTablesBehind = make("behind.mp4", clipArguments)
  /// Eight seconds of noise, some megabytes, its tables in front.
  static let longClip = make(
    "long.mp4",
    [
      "-f", "lavfi", "-i", "nullsrc=s=320x180:r=25:d=8,geq=random(1)*255:128:128", "-c:v",
      "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
    ])
  static let longClipWithTablesBehind = make(
    "long-behind.mp4", ["-i", longClip, "-c", "copy", "-movflags", "0"])
  /// 300 × 200, red on the left and blue on the right.
  static let twoColors = make("two.png", twoColorsArguments)
  /// The same as it comes from a camera that lay on its side: to be turned clockwise.
  static let turnedClip = make(
    "turned.mp4",
    ["-i", twoColorsClip, "-c", "copy", "-metadata:s:v", "rotate=270"])
  static let twoColorsClip = make(
    "two.mp4", ["-loop", "1", "-i", twoColors, "-t", "1", "-r", "5", "-pix_fmt", "yuv420p"])
  /// 400 × 400: the left half is red, the right half is green and cannot be seen.
  static let halfClear = make(
    "half.png",
    [
      "-f", "lavfi", "-i",
      "nullsrc=s=400x400:d=1:r=1,format=rgba,geq=r='if(lt(X,201),255,0)':g='if(lt(X,201),0,255)':"
        + "b=0:a='if(lt(X,201),255,0)'",
      "-frames:v", "1",
    ])
  static let animatedWebP = make(
    "anim.webp",
    [
      "-f", "lavfi", "-i", "mandelbrot=s=160x120:r=5", "-t", "1", "-c:v", "libwebp_anim", "-loop",
      "0",
    ])
  static let gif = make("anim.gif", ["-f", "lavfi", "-i", "mandelbrot=s=64x48:r=5", "-t", "1"])
  static let jpeg = make(
    "still.jpg", ["-f", "lavfi", "-i", "mandelbrot=s=320x200", "-frames:v", "1"])
  /// 120 × 80: red, green, blue and white quarters, row by row.
  static let quarters = make(
    "quarters.jpg",
    [
      "-f", "lavfi", "-i",
      "nullsrc=s=120x80:d=1:r=1,format=rgb24,geq=r='if(lt(X,60)*lt(Y,40)+gte(X,60)*gte(Y,40),255,0)'"
        + ":g='if(gte(X,60),255,0)':b='if(gte(Y,40),255,0)'",
      "-pix_fmt", "yuvj444p", "-q:v", "1", "-frames:v", "1",
    ])
  /// A transport stream, whose structure is not read here.
  static let transportStream = make("clip.ts", ["-i", clip, "-c", "copy"])
  /// The same clip, pictures and sound encrypted (CENC), its tables in front.
  static let encryptedClip = make(
    "cenc.mp4",
    [
      "-i", clip, "-c", "copy", "-movflags", "+faststart", "-encryption_scheme", "cenc-aes-ctr",
      "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid",
      "a7e61c373e219033c21091fa607bf3b8",
    ])
  static let sound = make("tone.mp3", ["-f", "lavfi", "-i", "sine=d=2"])
  static let webM = make(
    "clip.webm",
    [
      "-f", "lavfi", "-i", "mandelbrot=s=64x48:r=10", "-t", "1", "-c:v", "libvpx", "-b:v", "100k",
    ])

  /// One of each kind.
  static let all = [
    clip, clipWithTablesBehind, twoColors, turnedClip, halfClear, animatedWebP, gif, jpeg, sound,
    webM,
  ]

  private static let clipArguments = [
    "-f", "lavfi", "-i", "mandelbrot=s=160x90:r=25", "-f", "lavfi", "-i", "sine=r=48000",
    "-t", "2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac",
  ]
  private static let twoColorsArguments = [
    "-f", "lavfi", "-i",
    "nullsrc=s=300x200:d=1:r=1,format=rgb24,"
      + "geq=r='if(lt(X,150),255,0)':g=0:b='if(lt(X,150),0,255)'",
    "-frames:v", "1",
  ]

  private static func make(_ name: String, _ arguments: [String]) -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-y"] + arguments + [folder.file(name)]
    do {
      try process.run()
    } catch {
      fatalError("ffmpeg: \(error)")
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      fatalError("ffmpeg could not make \(name); script/setup --tests installs it")
    }
    return folder.file(name)
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}
