// Re-exports posts, pages, policies and the engine: an app imports `PrefetchClient` alone.
@_exported import Feed
@_exported import PostJSON
@_exported import Prefetch
