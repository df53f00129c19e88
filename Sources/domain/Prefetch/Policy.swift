/// How much is loaded ahead in a feed on a network: the parameters that the lab tunes.
///
/// The first values are the articles': an image weighs 1 and a video 2; a video that is not active
/// loads its first 200 KB, an image all of itself; a connection carries items worth `maxCost`.
public struct Policy: Hashable, Sendable, Codable {
  /// What pages call it.
  public var name: String
  /// How it chooses items.
  public var strategy: Strategy
  /// How many items above the active one are kept.
  public var trailing: Int
  /// What an image counts towards `maxCost`, alone or in a carousel.
  public var imageWeight: Int
  /// What a video counts towards `maxCost`, alone or in a carousel.
  public var videoWeight: Int
  /// What a web app counts towards `maxCost`.
  public var webappWeight: Int
  /// What an ad counts towards `maxCost`.
  public var adWeight: Int
  /// What a text counts towards `maxCost`, where it has anything to load.
  public var textWeight: Int
  /// How many parts of a carousel are seen before a person turns it: they make its weight.
  public var carouselVisibleParts: Int
  /// What a video loads while it is not active; a shorter one loads all of itself.
  public var videoStartBytes: Int
  /// What a video is taken to have where its size and duration are unknown.
  public var videoBytes: Int
  /// What a second of video is taken to have where only its duration is known, in kilobits.
  public var videoKbps: Int
  /// What an image is taken to have where its size is unknown.
  public var imageBytes: Int
  /// What a web app or ad without media is taken to have.
  public var webappBytes: Int
  /// The share of a page after which the next one is asked for at the latest, in percent.
  public var nextPagePercent: Int
  /// How many items a person scrolls in a minute.
  public var itemsPerMinute: Int

  /// A policy; what is left out has the articles' values and ours.
  public init(
    name: String, strategy: Strategy, trailing: Int = 1,
    imageWeight: Int = 1, videoWeight: Int = 2, webappWeight: Int = 1, adWeight: Int = 1,
    textWeight: Int = 0, carouselVisibleParts: Int = 1, videoStartBytes: Int = 204_800,
    videoBytes: Int = 2_097_152, videoKbps: Int = 800, imageBytes: Int = 153_600,
    webappBytes: Int = 307_200, nextPagePercent: Int = 70, itemsPerMinute: Int = 60
  ) {
    self.name = name
    self.strategy = strategy
    self.trailing = trailing
    self.imageWeight = imageWeight
    self.videoWeight = videoWeight
    self.webappWeight = webappWeight
    self.adWeight = adWeight
    self.textWeight = textWeight
    self.carouselVisibleParts = carouselVisibleParts
    self.videoStartBytes = videoStartBytes
    self.videoBytes = videoBytes
    self.videoKbps = videoKbps
    self.imageBytes = imageBytes
    self.webappBytes = webappBytes
    self.nextPagePercent = nextPagePercent
    self.itemsPerMinute = itemsPerMinute
  }

  /// How many items below the active one may load.
  public var leading: Int { strategy.leading }
  /// What the weights of the inactive items that load at once add up to, at the most.
  public var maxCost: Int { strategy.maxCost }
}
