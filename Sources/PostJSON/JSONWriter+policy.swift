import JSON
import Prefetch

extension JSONWriter {
  /// A policy: its name, its strategy, and what items cost by it.
  public mutating func policy(_ policy: Policy) {
    object { writer in
      writer.member("name", policy.name)
      writer.member("strategy", policy.strategy.name)
      writer.key("parameters")
      writer.object { writer in
        for (name, value) in policy.strategy.parameters {
          writer.key(text: name)
          writer.integer(value)
        }
      }
      writer.member("maxCost", policy.maxCost)
      writer.member("leading", policy.leading)
      writer.member("trailing", policy.trailing)
      writer.key("weights")
      writer.object { writer in
        writer.member("image", policy.imageWeight)
        writer.member("video", policy.videoWeight)
        writer.member("webapp", policy.webappWeight)
        writer.member("ad", policy.adWeight)
        writer.member("text", policy.textWeight)
      }
      writer.member("carouselVisibleParts", policy.carouselVisibleParts)
      writer.key("defaults")
      writer.object { writer in
        writer.member("videoStartBytes", policy.videoStartBytes)
        writer.member("videoBytes", policy.videoBytes)
        writer.member("videoKbps", policy.videoKbps)
        writer.member("imageBytes", policy.imageBytes)
        writer.member("webappBytes", policy.webappBytes)
      }
      writer.member("nextPagePercent", policy.nextPagePercent)
      writer.member("itemsPerMinute", policy.itemsPerMinute)
    }
  }
}
