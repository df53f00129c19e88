import Catalog
import Feed
import MediaFiles
import MediaFormats
import MediaProbe
import System

/// Removes renditions of contents that are gone, and those that were made otherwise than renditions are made
/// now. What is in their folder and has no rendition's name stays.
struct RenditionSweep {
  let storage: MediaStorage
  let addresses: MediaAddresses
  let store: any MediaStore

  /// The number of names of a folder that are read at a time.
  private static let namesAtOnce = 512

  /// Removes what is stale below these folders. What cannot be looked at stays.
  ///
  /// - Returns: how many renditions were removed.
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
      // All of a folder stand together. By bytes: another spelling of the same letters is another folder.
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

  /// What rendition names say of the contents of the objects beside each other in a bucket; nil where some object is
  /// not known by its content, and may have renditions.
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
    // It stays where there is anything in it.
    folder.removeFolder(named: RenditionShelf.folderName)
    return removed
  }

  /// What rendition names say of the contents of a folder's files; nil where some file is not known, and so
  /// may be any content.
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

  /// Whether it could be removed: no process is making it.
  private func removeUnlessLocked(
    _ text: String, _ name: RenditionName, in folder: OpenFolder
  ) -> Bool {
    guard let status = try? folder.status(of: text, purpose: "inspect a file"),
      status.isRegularFile
    else { return false }
    if name.isPartial {
      // Held until its name is gone.
      guard let file = try? folder.makeFile(named: text, purpose: "remove a file") else {
        return false
      }
      withExtendedLifetime(file) { folder.remove(text) }
    } else {
      folder.remove(text)
    }
    return true
  }

  /// Whether all names could be read.
  func forEachName(in folder: OpenFolder, _ body: (String) -> Void) -> Bool {
    var last: [UInt8]?
    while true {
      guard
        let names = try? folder.names(
          after: last, limit: Self.namesAtOnce, purpose: "read a folder",
          where: { $0.first != UInt8(ascii: ".") })
      else { return false }
      for name in names {
        // What is no UTF-8 is served under no URL, and has no renditions.
        if let text = String(validating: name, as: UTF8.self) { body(text) }
      }
      guard names.count == Self.namesAtOnce else { return true }
      last = names.last
    }
  }
}
