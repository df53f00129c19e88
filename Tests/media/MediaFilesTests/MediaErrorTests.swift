import Glibc
import System
import Testing

@testable import MediaFiles

struct MediaErrorTests {
  private static func error(_ code: Int32) -> SystemError {
    SystemError(call: "openat", purpose: "open a file", code: code)
  }

  @Test(arguments: [
    ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL, EILSEQ,
  ])
  func `a name that leads nowhere is not found`(_ code: Int32) {
    #expect(MediaError(opening: Self.error(code)) == .notFound(.noSuchFile))
  }

  @Test(arguments: [ENXIO, ENODEV])
  func `what cannot be opened as a file is none`(_ code: Int32) {
    #expect(MediaError(opening: Self.error(code)) == .notFound(.notRegularFile))
  }

  @Test(arguments: [EACCES, EPERM])
  func `what may not be read is denied, and the root is then of no use`(_ code: Int32) {
    #expect(MediaError(opening: Self.error(code)) == .denied(Self.error(code)))
    #expect(MediaError(openingRoot: Self.error(code)) == .rootUnusable(Self.error(code)))
  }

  @Test(arguments: [EMFILE, ENFILE, ENOMEM])
  func `a want of descriptors or memory is told apart`(_ code: Int32) {
    #expect(MediaError(opening: Self.error(code)) == .exhausted(Self.error(code)))
    #expect(MediaError(openingRoot: Self.error(code)) == .exhausted(Self.error(code)))
  }

  @Test(arguments: [EIO, ESTALE, EWOULDBLOCK])
  func `anything else keeps its reason`(_ code: Int32) {
    #expect(MediaError(opening: Self.error(code)) == .unreadable(Self.error(code)))
  }

  @Test(arguments: [
    (MediaError.notFound(.tooDeep(segmentCount: 33)), "the path has 33 segments, more than 32"),
    (.notFound(.nameNotServed(index: 2)), "segment 2 of the path is not a name that is served"),
    (.notFound(.noSuchFile), "no such file"), (.notFound(.notRegularFile), "not a regular file"),
    (.notFound(.tooLarge), "the file is too large"),
    (.unreadable(error(EIO)), "cannot open a file: Input/output error (openat)"),
  ])
  func `an error says what is wrong`(_ error: MediaError, _ description: String) {
    #expect(error.description == description)
  }
}
