-- What clients report of items, added up: how they are watched, and whether what starts their files was promised rightly.

-- How far views of a clip went.
CREATE TABLE report_watch (
  -- 'item', and name is the post's id; or 'video' or 'audio', and name is the number of a class of such clips by their
  -- durations (ClipClass).
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Hours since 1970-01-01T00:00:00Z: up to then older views are forgotten.
  hour INTEGER NOT NULL,
  -- About how many count.
  views INTEGER NOT NULL,
  -- Counts in bins, packed as the program reads them (PackedReport).
  figures BLOB NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- Those with the fewest views are deleted where there are too many.
CREATE INDEX report_watch_by_views ON report_watch (kind, views);

-- How often the first frame came within a decoder's time of the bytes that were said to start a file.
CREATE TABLE report_promise (
  -- As posts name the file; empty, as version is, for all files on the network.
  url TEXT NOT NULL,
  version TEXT NOT NULL,
  network TEXT NOT NULL,
  -- When it was put to the test last.
  hour INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  late INTEGER NOT NULL,
  -- Since the test began anew.
  recent_kept INTEGER NOT NULL,
  recent_late INTEGER NOT NULL,
  -- 0 it holds, 1 it broke and the file is to be looked into, 2 the file is what it was.
  state INTEGER NOT NULL,
  PRIMARY KEY (url, version, network)
) STRICT, WITHOUT ROWID;

CREATE INDEX report_promise_by_state ON report_promise (state) WHERE state <> 0;

-- What pages say of how long people watch a post, learned from report_watch; JSON, pairs of milliseconds and shares of a
-- thousand.
ALTER TABLE post ADD COLUMN survival TEXT;

CREATE INDEX post_with_survival ON post (post_id) WHERE survival IS NOT NULL;
