import CEmbedded
import Catalog
import Feed
import HTTP
import JSON
import PostJSON
import Prefetch
import Reports

extension JSONWriter {
  /// A page of the list of feeds.
  mutating func feeds(_ page: FeedListPage, _ links: FeedListLinks) {
    object { writer in
      writer.member("total", page.total)
      writer.array("feeds") { writer in
        for feed in page.feeds { writer.feed(feed) }
      }
      writer.object("paging") { writer in
        for (name, cursor) in [
          ("next", links.nextCursor), ("prev", links.previousCursor),
        ] as [(StaticString, String?)] {
          writer.key(name)
          if let cursor { writer.string(cursor) } else { writer.null() }
        }
        writer.object("links") { writer in
          writer.member("next", links.next)
          writer.member("prev", links.previous)
        }
      }
    }
  }

  /// A feed, in the list of feeds or on its own.
  mutating func feed(_ feed: FeedSummary) {
    object { writer in
      writer.member("name", feed.name)
      writer.member("title", feed.title)
      writer.member("total", feed.total)
      writer.member("ranking", feed.ranking)
      writer.member("newestAt", feed.newestPublishedAt?.rfc3339)
      writer.object("links") { writer in
        let name = PercentEncoding.encode(feed.name, for: .pathSegment)
        writer.member("items", "/v1/feeds/\(name)/items")
        writer.member("jsonFeed", "/v1/feeds/\(name)/feed.json")
        writer.member("rss", "/v1/feeds/\(name)/feed.xml")
      }
    }
  }

  /// A network profile and the policy in force for it, with the evidence if the lab found the policy.
  mutating func network(
    _ network: NetworkProfile, _ policy: Policy, _ evidence: PolicyEvidence?,
    _ outcome: PolicyOutcome?, _ experiment: (draw: ExperimentDraw, policy: Policy)?
  ) {
    object { writer in
      writer.member("name", network.name)
      writer.member("title", network.title)
      writer.member("downlink", network.downlinkKbps)
      writer.member("uplink", network.uplinkKbps)
      writer.member("rtt", network.roundTripMilliseconds)
      writer.member("lossPercent", network.lossPercent)
      writer.member("ect", network.effectiveType)
      writer.key("default")
      writer.boolean(network.isDefault)
      writer.key("policy")
      writer.policy(policy)
      if let experiment {
        writer.key("experiment")
        writer.experiment(experiment.draw, nil) { writer in
          writer.key("policy")
          writer.policy(experiment.policy)
        }
      }
      guard let evidence else { return }
      writer.object("evidence") { writer in
        writer.member("appliedAt", evidence.appliedAt.rfc3339)
        writer.key("lab")
        writer.raw(evidence.json)
        guard let outcome else { return }
        writer.key("outcome")
        writer.outcome(outcome)
      }
    }
  }

  /// The reason why the policies in force are not the stored ones.
  mutating func policyError(_ error: PolicyError) {
    object { writer in
      writer.member("feed", error.feed)
      writer.member("network", error.network)
      writer.member("strategy", error.strategy)
      writer.member("detail", error.description)
    }
  }
}

/// The description of the API (OpenAPI 3.1), embedded in the program.
enum OpenAPI {
  static let document: [UInt8] = {
    guard let file = embedded_file("openapi.json")?.pointee else {
      preconditionFailure("openapi.json is not in CEmbedded.c")
    }
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }()
}
