// An app imports `PrefetchClient` alone, and has posts, pages, policies and the engine with it.
@_exported import Feed
@_exported import PostJSON
@_exported import Prefetch
