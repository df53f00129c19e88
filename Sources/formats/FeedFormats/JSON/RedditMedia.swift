import Feed
import JSON

/// The files of a Reddit post, which may be in several places.
struct RedditMedia {
  private let data: JSONValue

  init(_ data: JSONValue) { self.data = data }

  /// Returns a gallery, a video hosted by Reddit, or one picture, still or animated.
  func files(_ omissions: inout Omissions) -> [Media] {
    if data.isTrue("is_gallery") { return gallery(&omissions) }
    let media = data.present("media") ?? data.present("secure_media")
    let preview = data.present("preview")
    if let video = media?.present("reddit_video") { return [self.video(video)].compactMap { $0 } }
    if let video = preview?.present("reddit_video_preview") {
      return [self.video(video)].compactMap { $0 }
    }
    guard let image = preview?.list("images").first else { return picture(source: nil) }
    if let clip = image.present("variants")?.present("mp4")?.present("source"),
      let url = clip.text("url")
    {
      var file = file(.video, url, clip, "width", "height")
      file?.poster = poster
      return [file].compactMap { $0 }
    }
    return picture(source: image.present("source"))
  }

  /// The picture to which the post links, with the size of the preview's source.
  private func picture(source: JSONValue?) -> [Media] {
    guard let url = data.text("url_overridden_by_dest") ?? data.text("url") else { return [] }
    let kind = FileKind(mimeType: nil, url: url)
    guard data.text("post_hint") == "image" || kind.media == .image else { return [] }
    return [file(.image, url, source, "width", "height")].compactMap { $0 }
  }

  private func video(_ video: JSONValue) -> Media? {
    guard let url = video.text("fallback_url") else { return nil }
    var file = file(.video, url, video, "width", "height")
    file?.poster = poster
    file?.durationMilliseconds =
      Int(
        rounding: video.member("duration")?.number.map { $0 * 1000 })?.ifPositive
    return file
  }

  /// The still image that Reddit shows before a video plays.
  private var poster: String? {
    let source = data.present("preview")?.list("images").first?.present("source")
    return WebAddress.resolve(source?.text("url")?.withoutReferences)
  }

  private func gallery(_ omissions: inout Omissions) -> [Media] {
    let known = data.present("media_metadata")
    // One more than a record may have is enough for the decoder to refuse the post.
    return data.present("gallery_data")?.list("items").prefix(RecordLimits.media + 1).compactMap {
      item -> Media? in
      guard let id = item.text("media_id"), let entry = known?.present(id),
        let size = entry.present("s")
      else {
        // The file was removed or has not been processed yet.
        omissions.add(.file)
        return nil
      }
      var extra = ExtraMembers()
      extra.add(["outbound_url"], of: item)
      let alt = AltText(item.text("caption")?.withoutReferences, &extra)
      let clip = size.text("mp4")
      guard let url = clip ?? size.text("u") ?? size.text("gif") else { return nil }
      var file = file(clip == nil ? .image : .video, url, size, "x", "y")
      if clip == nil { file?.mimeType = entry.text("m") }
      file?.alt = alt.text
      file?.extra = extra.extra
      return file
    } ?? []
  }

  private func file(
    _ kind: MediaKind, _ url: String, _ size: JSONValue?, _ width: String, _ height: String
  ) -> Media? {
    WebAddress.resolve(url.withoutReferences).map {
      Media(
        kind: kind, url: $0, width: size?.number(width)?.ifPositive,
        height: size?.number(height)?.ifPositive)
    }
  }
}
