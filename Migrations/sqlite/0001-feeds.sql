-- Posts, their media, and the feeds they are in.
--
-- Times are microseconds since 1970-01-01T00:00:00Z. NULL is unknown, never 0 or ''.

CREATE TABLE author (
  author_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL CHECK (id <> ''),
  name TEXT CHECK (name <> '')
) STRICT;

-- An author who changed name has a row for each: a post says who its author was then.
CREATE UNIQUE INDEX author_by_id ON author (id, coalesce(name, ''));

CREATE TABLE post (
  -- AUTOINCREMENT: the number of a deleted post never comes to mean another one.
  post_id INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  type TEXT NOT NULL CHECK (type IN ('image', 'video', 'carousel', 'webapp', 'ad', 'text')),
  title TEXT CHECK (title <> ''),
  text TEXT CHECK (text <> ''),
  -- The years that RFC 3339 can write.
  published_at INTEGER
    CHECK (published_at BETWEEN -62167219200000000 AND 253402300799999999),
  author_id INTEGER REFERENCES author,
  url TEXT CHECK (url <> ''),
  thumbnail TEXT CHECK (thumbnail <> ''),
  -- A JSON array of texts.
  tags TEXT CHECK (tags <> '[]'),
  -- A JSON object of whole numbers.
  counters TEXT CHECK (counters <> '{}')
) STRICT;

CREATE INDEX post_by_author ON post (author_id) WHERE author_id IS NOT NULL;

CREATE TABLE media (
  post_id INTEGER NOT NULL REFERENCES post,
  -- The place among the post's media, from 0.
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  kind TEXT NOT NULL CHECK (kind IN ('image', 'video')),
  url TEXT NOT NULL CHECK (url <> ''),
  mime_type TEXT CHECK (mime_type <> ''),
  codec TEXT CHECK (codec <> ''),
  width INTEGER CHECK (width > 0),
  height INTEGER CHECK (height > 0),
  duration_ms INTEGER CHECK (duration_ms >= 0),
  bytes INTEGER CHECK (bytes BETWEEN 0 AND 1099511627776),
  PRIMARY KEY (post_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE feed (
  feed_id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE CHECK (name <> ''),
  title TEXT CHECK (title <> ''),
  -- The current ranking. An entry that moves makes the next one; see feed_entry.
  ranking INTEGER NOT NULL DEFAULT 1 CHECK (ranking >= 1),
  -- The first ranking that is still kept.
  oldest_ranking INTEGER NOT NULL DEFAULT 1 CHECK (oldest_ranking BETWEEN 1 AND ranking)
) STRICT;

-- A post's place in a feed, and the rankings in which it had it.
--
-- Ranking r shows the entries with since <= r and (until IS NULL or r < until). Moving an entry
-- closes its row at the next ranking and opens another there; the feed's ranking is raised once
-- all moves of a run are in. So the old order stays readable, at the cost of the moved rows alone.
CREATE TABLE feed_entry (
  -- AUTOINCREMENT: a reader that saw entry n asks for the ones above n.
  entry_id INTEGER PRIMARY KEY AUTOINCREMENT,
  feed_id INTEGER NOT NULL REFERENCES feed,
  post_id INTEGER NOT NULL REFERENCES post,
  -- Less is nearer to the top; equal keys are ordered by id.
  sort_key INTEGER NOT NULL,
  -- The post's own, so that the order is read from this table alone.
  id TEXT NOT NULL,
  published_at INTEGER,
  rank INTEGER CHECK (rank >= 0),
  since INTEGER NOT NULL CHECK (since >= 1),
  until INTEGER CHECK (until > since)
) STRICT;

-- A feed's order as it is read.
CREATE INDEX feed_entry_order ON feed_entry (feed_id, sort_key, id);
-- A post's entries: the one that a run changes, the ones that a deletion takes along.
CREATE UNIQUE INDEX feed_entry_by_post ON feed_entry (post_id, feed_id, since);
-- What moved away, for the day its last ranking is no longer kept.
CREATE INDEX feed_entry_closed ON feed_entry (feed_id, until) WHERE until IS NOT NULL;
-- What waits for the next ranking to be published is found without reading the whole feed.
CREATE INDEX feed_entry_opened ON feed_entry (feed_id, since) WHERE since > 1;

-- What happened to the order of feeds beside new entries, for the readers that hold it in memory.
CREATE TABLE change_log (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 'entry': an entry's rankings changed from since/until to new_since/new_until, or it is gone.
  -- 'settings': a feed, a network or a policy changed.
  kind TEXT NOT NULL CHECK (kind IN ('entry', 'settings')),
  feed_id INTEGER,
  post_id INTEGER,
  sort_key INTEGER,
  id TEXT,
  published_at INTEGER,
  since INTEGER,
  until INTEGER,
  new_since INTEGER,
  new_until INTEGER
) STRICT;

CREATE TRIGGER feed_entry_retimed AFTER UPDATE OF since, until, published_at ON feed_entry
BEGIN
  INSERT INTO change_log
    (kind, feed_id, post_id, sort_key, id, published_at, since, until, new_since, new_until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, NEW.published_at,
    OLD.since, OLD.until, NEW.since, NEW.until);
END;

-- Rows of rankings that are no longer kept go without a word: no reader has them.
CREATE TRIGGER feed_entry_gone AFTER DELETE ON feed_entry
WHEN OLD.until IS NULL
  OR OLD.until > (SELECT oldest_ranking FROM feed WHERE feed_id = OLD.feed_id)
BEGIN
  INSERT INTO change_log (kind, feed_id, post_id, sort_key, id, published_at, since, until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, OLD.published_at,
    OLD.since, OLD.until);
END;

-- A post takes what belongs to it along, whichever program deletes it and whether or not that
-- program enforces foreign keys.
CREATE TRIGGER post_gone BEFORE DELETE ON post BEGIN
  DELETE FROM feed_entry WHERE post_id = OLD.post_id;
  DELETE FROM media WHERE post_id = OLD.post_id;
END;

CREATE TRIGGER post_author_gone AFTER DELETE ON post BEGIN
  DELETE FROM author WHERE author_id = OLD.author_id
    AND NOT EXISTS (SELECT 1 FROM post WHERE author_id = OLD.author_id);
END;

CREATE TRIGGER feed_added AFTER INSERT ON feed BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER feed_leaves BEFORE DELETE ON feed BEGIN
  DELETE FROM feed_entry WHERE feed_id = OLD.feed_id;
END;

CREATE TRIGGER feed_gone AFTER DELETE ON feed BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER feed_changed AFTER UPDATE ON feed BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
