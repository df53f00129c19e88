/// What an origin says that this program does not understand: a JSON object, which comes out as it went in,
/// its members in their order, its numbers and texts as they were written. Only white space between its tokens
/// is gone.
public struct Extra: Hashable, Sendable {
  /// The object's JSON, UTF-8 without white space between tokens; never `{}`, which says nothing.
  @ByBytes public private(set) var json: String

  /// The object of this JSON, which somebody has read: `PostJSON` reads what is not known to be one.
  public init(checkedJSON json: String) { self.json = json }
}
