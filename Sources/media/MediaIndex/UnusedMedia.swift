import Catalog
import Feed
import MediaFiles
import MediaProbe
import System

/// Finds the pictures, clips and sounds of a media root that no post names, and deletes them.
///
/// First all files are listed; then everything in posts is searched for their names (`MediaMentions`). A file
/// is kept if its name, or that of one of its renditions, occurs anywhere in a post, whatever it means there;
/// if it is in the folder of a playlist or below, whose parts posts do not name; and if it changed within a
/// grace period. Right before a file is deleted it is checked again, with its path locked as by uploads: a
/// post that names it since then keeps it. The memory of a run is that of each file's name.
package struct UnusedMedia {
  /// A file that no post names.
  package struct File: Sendable {
    /// The path segments below the root.
    package let segments: [String]
    /// The size.
    package let bytes: Int
    /// The time of arrival or of the last change.
    package let changed: Moment
  }

  /// The number of kept files by reason.
  package struct Kept: Sendable, Hashable {
    /// Files named by a post, themselves or by a rendition.
    package var named = 0
    /// Files that changed within the grace period.
    package var young = 0
    /// Files in the folder of a playlist, or below it.
    package var besidePlaylists = 0
    /// Files whose name is not that of a picture, clip or sound.
    package var others = 0
  }

  /// The result of a deletion.
  package struct Deleted: Sendable, Hashable {
    /// Files that no post named.
    package var files = 0
    /// The files' renditions.
    package var renditions = 0
    /// The size of the files and renditions.
    package var bytes = 0
    /// Files that a post names by now, or that changed.
    package var kept = 0
  }

  private let storage: MediaStorage
  private let addresses: MediaAddresses
  private let store: any MediaStore
  private let newest: Moment

  private var files: [File] = []
  private var mentions = MediaMentions()
  /// Folders that contain a playlist.
  private var playlists: Set<[String]> = []
  /// The names of renditions, by the folder of their originals.
  private var renditions: [[String]: [RenditionName]] = [:]
  /// The number of kept files by reason.
  package private(set) var kept = Kept()

  /// Lists the files of a root.
  ///
  /// - Parameters:
  ///   - newest: files that changed later are kept.
  ///   - onProblem: called with what cannot be inspected, which is kept.
  /// - Throws: `MediaError` if the root cannot be read.
  package init(
    _ storage: MediaStorage, _ addresses: MediaAddresses, _ store: any MediaStore,
    changedBy newest: Moment,
    onProblem: (String) -> Void
  ) throws {
    (self.storage, self.addresses, self.store, self.newest) = (storage, addresses, store, newest)
    switch storage {
    case .folder(let root): try look(through: root, onProblem)
    case .bucket(let bucket):
      var objects = MediaObjects(bucket)
      while let object = try objects.next() {
        let folder = object.segments.dropLast()
        if folder.last == RenditionShelf.folderName {
          addRendition(object.segments.last ?? "", in: folder)
        } else if !folder.contains(RenditionShelf.folderName) {
          add(object.segments) { object.status }
        }
      }
    }
  }

  private mutating func look(
    through root: MediaRoot, _ onProblem: (String) -> Void
  ) throws(MediaError) {
    var walk = try MediaWalk(root, passingOver: RenditionShelf.folderName)
    while let step = walk.next() {
      switch step {
      case .file(let segments):
        add(segments) { (try? root.status(of: segments)).map { MediaStatus($0) } }
      case .passedOver(let folder): addRenditions(in: folder, of: root)
      case .problem(let path, let problem): onProblem("\(path): \(problem)")
      case .notServed: break
      }
    }
  }

  /// Adds a file.
  ///
  /// - Parameter status: called only for the name of a picture, clip or sound.
  private mutating func add(_ segments: [String], _ status: () -> MediaStatus?) {
    let name = segments.last ?? ""
    let suffix = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last
    let fileExtension = suffix.map { $0.lowercased() } ?? ""
    if ["m3u8", "m3u", "mpd"].contains(fileExtension) { playlists.insert(segments.dropLast()) }
    guard OpenFile.mediaExtensions.contains(fileExtension) else { return kept.others += 1 }
    guard let status = status() else { return }
    let changed = max(status.changed, status.modified)
    guard changed <= newest else { return kept.young += 1 }
    files.append(File(segments: segments, bytes: status.bytes, changed: changed))
    mentions.add(name)
  }

  private mutating func addRenditions(in folder: [String], of root: MediaRoot) {
    guard let open = try? root.openFolder(folder) else { return }
    var names: [String] = []
    _ = sweep.forEachName(in: open) { names.append($0) }
    for name in names { addRendition(name, in: folder[...]) }
  }

  private mutating func addRendition(_ text: String, in folder: ArraySlice<String>) {
    guard let name = RenditionName(text), !name.isPartial else { return }
    mentions.add(name.text)
    renditions[folder.dropLast(), default: []].append(name)
  }

  private var sweep: RenditionSweep {
    RenditionSweep(storage: storage, addresses: addresses, store: store)
  }

  /// The number of files that may be unused.
  package var count: Int { files.count }

  /// Searches the content of a post, in any form.
  package mutating func look(in text: [UInt8]) { mentions.look(in: text) }

  /// Returns the files that no text named.
  ///
  /// - Throws: what the store throws.
  package mutating func unused() throws -> [File] {
    var unused: [File] = []
    for file in files {
      let folders = file.segments.indices.map { Array(file.segments[..<$0]) }
      if folders.contains(where: playlists.contains) {
        kept.besidePlaylists += 1
      } else if try isNamed(file) {
        kept.named += 1
      } else {
        unused.append(file)
      }
    }
    return unused
  }

  private func isNamed(_ file: File) throws -> Bool {
    if mentions.contains(file.segments.last ?? "") { return true }
    let named = renditions[file.segments.dropLast(), default: []].filter {
      mentions.contains($0.text)
    }
    guard !named.isEmpty else { return false }
    // For an unknown content, any of them may be a rendition.
    guard let content = try content(of: file) else { return true }
    return named.contains { $0.content == content }
  }

  /// Returns a file's content, as in the names of its renditions; nil if unknown.
  private func content(of file: File) throws -> String? {
    let known = try store.media(at: [addresses.urls(of: file.segments)[0]])[0]
    guard case .content(let sha256)? = known?.truth.version else { return nil }
    return RenditionName.content(sha256)
  }

  /// Deletes these files with their renditions, except files that changed since, or that a post names by now.
  ///
  /// - Throws: `SystemError`, what the store throws. Files deleted before stay deleted.
  package func delete(_ unused: [File]) throws -> Deleted {
    var deleted = Deleted()
    var contents: [[String]: Set<String>] = [:]
    for file in unused {
      let content = try content(of: file)
      guard try delete(file) else {
        deleted.kept += 1
        continue
      }
      deleted.files += 1
      deleted.bytes += file.bytes
      if let content { contents[file.segments.dropLast(), default: []].insert(content) }
    }
    for (folder, gone) in contents {
      switch storage {
      case .folder(let root): try deleteRenditions(of: gone, beside: folder, in: root, &deleted)
      case .bucket(let bucket):
        try deleteRenditions(of: gone, beside: folder, in: bucket, &deleted)
      }
    }
    return deleted
  }

  private func delete(_ file: File) throws -> Bool {
    // Uploads to a bucket may come from other machines, which a lock does not exclude.
    let lock = try storage.root.map { try UploadFolder($0).lock(file.segments) }
    defer { withExtendedLifetime(lock) {} }
    let urls = addresses.urls(of: file.segments)
    guard let status = try? storage.status(of: file.segments),
      max(status.changed, status.modified) == file.changed, status.bytes == file.bytes,
      try store.posts(naming: urls, limit: 1).isEmpty
    else { return false }
    try storage.delete(file.segments)
    let known = zip(urls, try store.media(at: urls)).filter { $0.1 != nil }.map(\.0)
    if !known.isEmpty { try store.forget(known) }
    return true
  }

  private func deleteRenditions(
    of gone: Set<String>, beside folder: [String], in root: MediaRoot, _ deleted: inout Deleted
  ) throws {
    guard let parent = try? root.openFolder(folder),
      let shelf = try? root.openFolder(folder + [RenditionShelf.folderName]),
      let remaining = try sweep.contents(of: parent, folder)
    else { return }
    var names: [String] = []
    _ = sweep.forEachName(in: shelf) { text in
      guard let name = RenditionName(text), !name.isPartial, gone.contains(name.content),
        !remaining.contains(name.content)
      else { return }
      names.append(text)
    }
    for name in names {
      deleted.bytes += (try? shelf.status(of: name, purpose: "inspect a rendition").bytes) ?? 0
      shelf.remove(name)
      deleted.renditions += 1
    }
    parent.removeFolder(named: RenditionShelf.folderName)
  }

  private func deleteRenditions(
    of gone: Set<String>, beside folder: [String], in bucket: MediaBucket,
    _ deleted: inout Deleted
  ) throws {
    guard let remaining = try sweep.contents(of: bucket, folder) else { return }
    var objects = MediaObjects(bucket, below: folder + [RenditionShelf.folderName])
    while let object = try objects.next() {
      guard let name = RenditionName(object.segments.last ?? ""), gone.contains(name.content),
        !remaining.contains(name.content)
      else { continue }
      try storage.delete(object.segments)
      deleted.bytes += object.status.bytes
      deleted.renditions += 1
    }
  }
}
