/// The amount that is loaded ahead in a feed on a network: the parameters that the lab tunes.
///
/// The defaults are the articles' values: an image weighs 1 and a video 2; a video that is not active loads
/// its first 200 KB, an image is loaded whole; a connection carries items worth `maxCost`.
public struct Policy: Hashable, Sendable, Codable {
  /// The name on pages.
  public var name: String
  /// The strategy that chooses items.
  public var strategy: Strategy
  /// The number of items above the active one that are kept.
  public var trailing: Int
  /// The amount that an image counts towards `maxCost`, alone or in a carousel.
  public var imageWeight: Int
  /// The amount that a video counts towards `maxCost`, alone or in a carousel.
  public var videoWeight: Int
  /// The amount that a web app counts towards `maxCost`.
  public var webappWeight: Int
  /// The amount that an ad counts towards `maxCost`.
  public var adWeight: Int
  /// The amount that a text counts towards `maxCost` if it has anything to load.
  public var textWeight: Int
  /// The number of a carousel's parts that are visible before the person turns it; they make its weight.
  public var carouselVisibleParts: Int
  /// The number of bytes that a video loads while it is not active; a shorter one is loaded whole.
  public var videoStartBytes: Int
  /// The assumed size of a video of unknown size and duration.
  public var videoBytes: Int
  /// The assumed bit rate of a video of unknown size and known duration, in kilobits a second.
  public var videoKbps: Int
  /// The assumed size of an image of unknown size.
  public var imageBytes: Int
  /// The assumed size of a web app or ad without media.
  public var webappBytes: Int
  /// The share of a page after which the next one is requested at the latest, in percent.
  public var nextPagePercent: Int
  /// The number of items that a person scrolls in a minute.
  public var itemsPerMinute: Int

  /// Creates a policy; the defaults are the articles' values and ours.
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

  /// The number of items below the active one that may load.
  public var leading: Int { strategy.leading }
  /// The maximum sum of the weights of inactive items that load at once.
  public var maxCost: Int { strategy.maxCost }
}
