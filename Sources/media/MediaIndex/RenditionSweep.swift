import Catalog
import Feed
import MediaFiles
import MediaFormats
import MediaProbe
import System

/// Removes renditions of contents that no longer exist, and those with an outdated recipe. Files in their
/// folder whose names are not those of renditions stay.
struct RenditionSweep {
  let storage: MediaStorage
  let addresses: MediaAddresses
  let store: any MediaStore

  /// The number of names of a folder read at a time.
  private static let namesAtOnce = 512

  /// Removes stale renditions below these folders. Those that cannot be inspected stay.
  ///
  /// - Returns: the number of removed renditions.
  /// - Throws: what the store throws.
  func removeStale(below targets: [MediaTarget]) throws -> Int {
    var removed = 0
    for case .folder(let segments) in targets {
      switch storage {
      case .folder(let root):
        guard
          var walk = try? MediaWalk(root, below: segments, passingOver: RenditionShelf.folderName)
        else { continue }
        while let step = walk.next() {
          guard case .passedOver(let folder) = step else { continue }
          removed += try removeStale(in: folder, of: root)
        }
      case .bucket(let bucket): removed += try removeStale(in: bucket, below: segments)
      }
    }
    return removed
  }

  private func removeStale(in bucket: MediaBucket, below folder: [String]) throws -> Int {
    var objects = MediaObjects(bucket, below: folder)
    var removed = 0
    var last: (shelf: [ByteText], contents: Set<String>?)?
    while let object = try objects.next() {
      let folder = object.segments.dropLast()
      guard folder.last == RenditionShelf.folderName,
        let name = RenditionName(object.segments.last ?? "")
      else { continue }
      // The objects of a folder are contiguous. Compare bytes: Unicode-equivalent names are different folders.
      let shelf = folder.map { ByteText($0) }
      if last?.shelf != shelf {
        last = (shelf, try contents(of: bucket, Array(folder.dropLast())))
      }
      guard let contents = last?.contents, !name.isCurrent || !contents.contains(name.content)
      else { continue }
      try storage.delete(object.segments)
      removed += 1
    }
    return removed
  }

  /// Returns the contents of the objects directly in a folder of a bucket, as in rendition names; nil if the
  /// content of an object that may have renditions is unknown.
  func contents(of bucket: MediaBucket, _ folder: [String]) throws -> Set<String>? {
    var contents: Set<String> = []
    var objects = MediaObjects(bucket, below: folder, passingOver: RenditionShelf.folderName)
    while let object = try objects.next() {
      guard object.segments.count == folder.count + 1 else { continue }
      let media = try store.media(at: [addresses.urls(of: object.segments)[0]])[0]
      if let media, media.truth.version != nil {
        guard media.changedNanoseconds == Int64(object.status.changed.nanosecondsSince1970) else {
          return nil
        }
        if case .content(let sha256) = media.truth.version {
          contents.insert(RenditionName.content(sha256))
        } else if !Rendition.ladder(of: media.truth).isEmpty {
          return nil
        }
      } else {
        let head = try bucket.read(object.segments, 0..<MediaType.headBytes).bytes
        if OpenFile.mayBeMedia(head: head, named: object.segments.last ?? "") { return nil }
      }
    }
    return contents
  }

  private func removeStale(in segments: [String], of root: MediaRoot) throws -> Int {
    let parent = Array(segments.dropLast())
    guard let folder = try? root.openFolder(parent),
      let renditions = try? root.openFolder(segments),
      let contents = try contents(of: folder, parent)
    else { return 0 }
    var removed = 0
    _ = forEachName(in: renditions) { text in
      guard let name = RenditionName(text),
        name.isPartial || !name.isCurrent || !contents.contains(name.content),
        removeUnlessLocked(text, name, in: renditions)
      else { return }
      if !name.isPartial { removed += 1 }
    }
    // The folder stays if it is not empty.
    folder.removeFolder(named: RenditionShelf.folderName)
    return removed
  }

  /// Returns the contents of a folder's files, as in rendition names; nil if the content of
  /// a media file is unknown.
  func contents(of folder: OpenFolder, _ segments: [String]) throws -> Set<String>? {
    var contents: Set<String> = []
    var isKnown = true
    var failure: (any Error)?
    let isWhole = forEachName(in: folder) { name in
      guard isKnown, failure == nil,
        let status = try? folder.status(of: name, purpose: "inspect a file"), status.isRegularFile
      else { return }
      do {
        let media = try store.media(at: [addresses.urls(of: segments + [name])[0]])[0]
        if case .content(let sha256) = media?.truth.version {
          contents.insert(RenditionName.content(sha256))
        } else {
          let file = try folder.file(named: name, purpose: "read a file")
          isKnown = try file.map { try !$0.mayBeMedia(named: name) } ?? true
        }
      } catch is SystemError {
        isKnown = false
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return isKnown && isWhole ? contents : nil
  }

  /// Removes a file unless a process is making it; returns whether it was removed.
  private func removeUnlessLocked(
    _ text: String, _ name: RenditionName, in folder: OpenFolder
  ) -> Bool {
    guard let status = try? folder.status(of: text, purpose: "inspect a file"),
      status.isRegularFile
    else { return false }
    if name.isPartial {
      // The lock is held until the name is removed.
      guard let file = try? folder.makeFile(named: text, purpose: "remove a file") else {
        return false
      }
      withExtendedLifetime(file) { folder.remove(text) }
    } else {
      folder.remove(text)
    }
    return true
  }

  /// Calls the body with all names; returns whether all could be read.
  func forEachName(in folder: OpenFolder, _ body: (String) -> Void) -> Bool {
    var last: [UInt8]?
    while true {
      guard
        let names = try? folder.names(
          after: last, limit: Self.namesAtOnce, purpose: "read a folder",
          where: { $0.first != UInt8(ascii: ".") })
      else { return false }
      for name in names {
        // No URL can contain a name that is not UTF-8, and it has no renditions.
        if let text = String(validating: name, as: UTF8.self) { body(text) }
      }
      guard names.count == Self.namesAtOnce else { return true }
      last = names.last
    }
  }
}
