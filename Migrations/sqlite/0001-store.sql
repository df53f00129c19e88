-- Posts, their media, the feeds they are in; networks, policies; what is known of media files.
--
-- Times are microseconds since 1970-01-01T00:00:00Z. NULL is unknown, never 0 or ''.
-- A check of three values or more is written with OR: for IN, SQLite makes a table in memory for each written row, a
-- quarter of the time of a seed.

CREATE TABLE author (
  author_id INTEGER PRIMARY KEY,
  -- Of some authors only a name is known.
  id TEXT CHECK (id <> ''),
  name TEXT CHECK (name <> ''),
  avatar TEXT CHECK (avatar <> ''),
  -- A JSON object of the origin's, kept as it was written but for white space.
  extra TEXT
    CHECK (extra IS NULL OR (json_valid(extra) AND json_type(extra) = 'object' AND extra <> '{}'))
) STRICT;

CREATE INDEX author_with_details ON author (author_id) WHERE avatar IS NOT NULL OR extra IS NOT NULL;
-- An author who changed anything has a row for each: a post says who its author was then.
CREATE UNIQUE INDEX author_by_id ON author
  (coalesce(id, ''), coalesce(name, ''), coalesce(avatar, ''), coalesce(extra, ''));

CREATE TABLE post (
  -- AUTOINCREMENT: the number of a deleted post never comes to mean another one.
  post_id INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  type TEXT NOT NULL CHECK (type = 'image' OR type = 'video' OR type = 'carousel' OR type = 'webapp'
    OR type = 'ad' OR type = 'text' OR type = 'audio'),
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
  counters TEXT CHECK (counters <> '{}'),
  language TEXT CHECK (language <> ''),
  extra TEXT
    CHECK (extra IS NULL OR (json_valid(extra) AND json_type(extra) = 'object' AND extra <> '{}'))
) STRICT;

CREATE INDEX post_by_author ON post (author_id) WHERE author_id IS NOT NULL;
-- Whether any row has these is asked before each page: where none has, they are not read.
CREATE INDEX post_with_details ON post (post_id) WHERE language IS NOT NULL OR extra IS NOT NULL;

CREATE TABLE media (
  post_id INTEGER NOT NULL REFERENCES post,
  -- The place among the post's media, from 0.
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  kind TEXT NOT NULL CHECK (kind = 'image' OR kind = 'video' OR kind = 'audio'),
  url TEXT NOT NULL CHECK (url <> ''),
  mime_type TEXT CHECK (mime_type <> ''),
  codec TEXT CHECK (codec <> ''),
  width INTEGER CHECK (width > 0),
  height INTEGER CHECK (height > 0),
  duration_ms INTEGER CHECK (duration_ms >= 0),
  bytes INTEGER CHECK (bytes BETWEEN 0 AND 1099511627776),
  alt TEXT CHECK (alt <> ''),
  poster TEXT CHECK (poster <> ''),
  -- A JSON object of a ThumbHash, a colour, or both.
  placeholder TEXT
    CHECK (placeholder IS NULL OR (json_valid(placeholder) AND json_type(placeholder) = 'object')),
  extra TEXT
    CHECK (extra IS NULL OR (json_valid(extra) AND json_type(extra) = 'object' AND extra <> '{}')),
  PRIMARY KEY (post_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Which posts show a file, when something becomes known of it.
CREATE INDEX media_by_url ON media (url);
CREATE INDEX media_with_details ON media (post_id) WHERE
  alt IS NOT NULL OR poster IS NOT NULL OR placeholder IS NOT NULL OR extra IS NOT NULL;

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

-- A post's entries: the one that a run changes, the ones that a deletion takes along.
CREATE UNIQUE INDEX feed_entry_by_post ON feed_entry (post_id, feed_id, since);
-- What moved away, for the day its last ranking is no longer kept.
CREATE INDEX feed_entry_closed ON feed_entry (feed_id, until) WHERE until IS NOT NULL;
-- What waits for the next ranking to be published is found without reading the whole feed.
CREATE INDEX feed_entry_opened ON feed_entry (feed_id, since) WHERE since > 1;
-- A feed's order, read whole from this index alone when a server starts.
CREATE INDEX feed_entry_order
  ON feed_entry (feed_id, sort_key, id, post_id, published_at, since, until);

-- What happened beside new entries, for readers that hold orders and pages in memory.
CREATE TABLE change_log (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 'entry': an entry's rankings changed from since/until to new_since/new_until, or it is gone.
  -- 'feed': the row of feed_id changed, or is new or gone.
  -- 'post': the row, author or media of post_id changed, or it is gone.
  -- 'settings': a network or a policy changed.
  kind TEXT NOT NULL CHECK (kind = 'entry' OR kind = 'feed' OR kind = 'post' OR kind = 'settings'),
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

-- A run that moves entries; its program holds a lock for as long as it is at work.
CREATE TABLE ranking_run (
  -- AUTOINCREMENT: the number of a run that is over never comes to mean another one.
  run_id INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;

-- The place that a run gives a post in a feed: by its rank, or else by its time.
CREATE TABLE pending_place (
  run_id INTEGER NOT NULL REFERENCES ranking_run,
  feed_id INTEGER NOT NULL REFERENCES feed,
  post_id INTEGER NOT NULL REFERENCES post,
  rank INTEGER CHECK (rank >= 0),
  PRIMARY KEY (run_id, feed_id, post_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pending_place_by_post ON pending_place (post_id, run_id);

-- When a ranking that is kept was followed by the next: microseconds since 1970-01-01T00:00:00Z.
CREATE TABLE replaced_ranking (
  feed_id INTEGER NOT NULL REFERENCES feed,
  ranking INTEGER NOT NULL CHECK (ranking >= 1),
  replaced_at INTEGER NOT NULL,
  PRIMARY KEY (feed_id, ranking)
) STRICT, WITHOUT ROWID;

-- The greatest ranking of a feed that is gone or has another name: rankings of new feeds begin above, so that no
-- cursor of the old one fits them.
CREATE TABLE ranking_floor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  ranking INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_key (
  -- Ascends: how far it is behind the newest says how many keys came since, without counting them.
  key_id INTEGER PRIMARY KEY,
  -- The client's own name for the request.
  key TEXT NOT NULL UNIQUE CHECK (key <> ''),
  -- What the request asked for: the same key with another one is refused.
  fingerprint TEXT NOT NULL,
  -- The first answer: the item's counters, a JSON object of whole numbers.
  counters TEXT CHECK (counters <> '{}'),
  created_at INTEGER NOT NULL
) STRICT;

-- The keys that are no longer kept are found without reading the others.
CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at);

-- What is known of media files from looking into them. It is no part of a post: a record's own values stay.
CREATE TABLE media_truth (
  truth_id INTEGER PRIMARY KEY,
  -- Of what it is true: of a content, wherever that lies ('sha256:…'), or of what a URL's validator stands
  -- for ('etag:"…" URL', 'modified:… URL').
  version TEXT NOT NULL UNIQUE CHECK (version <> ''),
  -- What is known, packed as the program reads it (PackedTruth).
  truth BLOB NOT NULL DEFAULT x''
) STRICT;

-- What lies at a URL, as posts name it.
CREATE TABLE media_file (
  url TEXT PRIMARY KEY CHECK (url <> ''),
  truth_id INTEGER NOT NULL REFERENCES media_truth,
  -- When a file on a disk was last changed, in nanoseconds since 1970: one that looks as it did is not read
  -- again.
  modified_ns INTEGER,
  -- Smaller files that show the same, packed, in the order of their sizes; NULL if there are none.
  variants BLOB
) STRICT, WITHOUT ROWID;

CREATE INDEX media_file_by_truth ON media_file (truth_id);

CREATE TABLE network_profile (
  name TEXT PRIMARY KEY CHECK (name <> ''),
  title TEXT NOT NULL,
  -- Kilobits a second; 0 where nothing arrives.
  downlink_kbps INTEGER NOT NULL CHECK (downlink_kbps BETWEEN 0 AND 1000000000),
  uplink_kbps INTEGER NOT NULL CHECK (uplink_kbps BETWEEN 0 AND 1000000000),
  round_trip_ms INTEGER NOT NULL CHECK (round_trip_ms BETWEEN 0 AND 600000),
  loss_percent INTEGER NOT NULL DEFAULT 0 CHECK (loss_percent BETWEEN 0 AND 100),
  -- The ECT client hint that means this network.
  effective_type TEXT UNIQUE,
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX network_profile_default ON network_profile (is_default) WHERE is_default = 1;

-- A policy's strategy is a name with parameters. These tables list them, so that whoever writes a policy is refused
-- what the program would not understand.
CREATE TABLE strategy (
  name TEXT PRIMARY KEY CHECK (name <> '')
) STRICT, WITHOUT ROWID;

-- A parameter is a whole number.
CREATE TABLE strategy_parameter (
  strategy TEXT NOT NULL REFERENCES strategy,
  name TEXT NOT NULL CHECK (name <> ''),
  least INTEGER NOT NULL,
  most INTEGER NOT NULL CHECK (most >= least),
  PRIMARY KEY (strategy, name)
) STRICT, WITHOUT ROWID;

-- A row for each feed and network; the row without a feed holds for all that have none of their own. The bounds
-- keep every sum that a plan makes far from overflowing.
CREATE TABLE policy (
  policy_id INTEGER PRIMARY KEY,
  feed TEXT CHECK (feed <> ''),
  network TEXT NOT NULL REFERENCES network_profile,
  name TEXT NOT NULL CHECK (name <> ''),
  strategy TEXT NOT NULL REFERENCES strategy,
  -- A JSON object.
  parameters TEXT NOT NULL CHECK (json_valid(parameters) AND json_type(parameters) = 'object'),
  trailing INTEGER NOT NULL DEFAULT 1 CHECK (trailing BETWEEN 0 AND 100),
  image_weight INTEGER NOT NULL DEFAULT 1 CHECK (image_weight BETWEEN 0 AND 1000),
  video_weight INTEGER NOT NULL DEFAULT 2 CHECK (video_weight BETWEEN 0 AND 1000),
  webapp_weight INTEGER NOT NULL DEFAULT 1 CHECK (webapp_weight BETWEEN 0 AND 1000),
  ad_weight INTEGER NOT NULL DEFAULT 1 CHECK (ad_weight BETWEEN 0 AND 1000),
  text_weight INTEGER NOT NULL DEFAULT 0 CHECK (text_weight BETWEEN 0 AND 1000),
  carousel_visible_parts INTEGER NOT NULL DEFAULT 1 CHECK (carousel_visible_parts BETWEEN 1 AND 100),
  video_start_bytes INTEGER NOT NULL DEFAULT 204800 CHECK (video_start_bytes BETWEEN 0 AND 1099511627776),
  video_bytes INTEGER NOT NULL DEFAULT 2097152 CHECK (video_bytes BETWEEN 0 AND 1099511627776),
  video_kbps INTEGER NOT NULL DEFAULT 800 CHECK (video_kbps BETWEEN 0 AND 1000000),
  image_bytes INTEGER NOT NULL DEFAULT 153600 CHECK (image_bytes BETWEEN 0 AND 1099511627776),
  webapp_bytes INTEGER NOT NULL DEFAULT 307200 CHECK (webapp_bytes BETWEEN 0 AND 1099511627776),
  next_page_percent INTEGER NOT NULL DEFAULT 70 CHECK (next_page_percent BETWEEN 0 AND 100),
  items_per_minute INTEGER NOT NULL DEFAULT 60 CHECK (items_per_minute BETWEEN 1 AND 6000)
) STRICT;

CREATE UNIQUE INDEX policy_of_feed ON policy (coalesce(feed, ''), network);

-- Policies that the lab found, with their evidence and what stood there before, so that each can be taken back:
-- the newest of a feed and network first.
CREATE TABLE applied_policy (
  applied_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- As in policy: NULL for all feeds that have no policy of their own.
  feed TEXT CHECK (feed <> ''),
  network TEXT NOT NULL REFERENCES network_profile,
  -- Microseconds since 1970.
  applied_at INTEGER NOT NULL,
  evidence TEXT NOT NULL
    CHECK (json_valid(evidence) AND json_type(evidence) = 'object' AND length(evidence) <= 65536),
  -- The columns of policy as a JSON object: those before (NULL where there was no row), and those written. As
  -- long as the row has these, the evidence is its own.
  before TEXT CHECK (before IS NULL OR json_valid(before)),
  applied TEXT NOT NULL CHECK (json_valid(applied))
) STRICT;

CREATE INDEX applied_policy_of_feed ON applied_policy (coalesce(feed, ''), network, applied_id);

INSERT INTO ranking_floor VALUES (1, 0);

-- Apple's Network Link Conditioner has these: delays each way are added up to round trips.
INSERT INTO network_profile
  (name, title, downlink_kbps, uplink_kbps, round_trip_ms, loss_percent, effective_type, is_default)
VALUES
  ('lte',      'LTE',              50000, 10000,  115,   0, '4g',      0),
  ('wifi',     'Wi-Fi',            40000, 33000,    2,   0, NULL,      0),
  ('dsl',      'DSL',               2000,   256,   10,   0, NULL,      0),
  ('very-bad', 'Very bad network',  1000,  1000, 1000,  10, 'slow-2g', 0),
  ('3g',       '3G',                 780,   330,  200,   0, '3g',      1),
  ('edge',     'EDGE',               240,   200,  800,   0, '2g',      0),
  ('offline',  '100 % loss',           0,     0,    0, 100, NULL,      0);

INSERT INTO strategy (name) VALUES ('plain'), ('weighted');
INSERT INTO strategy_parameter (strategy, name, least, most) VALUES
  ('plain',    'leading', 0, 100),
  ('weighted', 'leading', 0, 100),
  ('weighted', 'maxCost', 0, 1000000);

INSERT INTO strategy (name) VALUES
  ('standard'), ('endless'), ('threshold-fixed'), ('threshold-dynamic'), ('lazy-target'),
  ('range-controller'), ('stages'), ('expected-wait');

INSERT INTO strategy_parameter (strategy, name, least, most) VALUES
  ('standard',          'leading',                0, 100),
  ('threshold-fixed',   'percent',                1, 100),
  ('threshold-dynamic', 'percent',                1, 100),
  ('lazy-target',       'leading',                0, 100),
  ('lazy-target',       'trailing',               0, 100),
  -- Hundredths of screenfuls.
  ('range-controller',  'displayLeading',         0, 2000),
  ('range-controller',  'displayTrailing',        0, 2000),
  ('range-controller',  'preloadLeading',         0, 2000),
  ('range-controller',  'preloadTrailing',        0, 2000),
  ('range-controller',  'minimumDisplayLeading',  0, 2000),
  ('range-controller',  'minimumDisplayTrailing', 0, 2000),
  ('range-controller',  'minimumPreloadLeading',  0, 2000),
  ('range-controller',  'minimumPreloadTrailing', 0, 2000),
  ('stages',            'loadedMilliseconds',     0, 600000),
  ('stages',            'loadedDistance',         0, 100),
  ('stages',            'preparedDistance',       0, 100),
  -- Milliseconds of waiting that a megabyte has to save.
  ('expected-wait',     'price',                  0, 1000000),
  ('expected-wait',     'quantilePercent',        0, 100),
  ('expected-wait',     'stepBytes',              1024, 16777216),
  ('expected-wait',     'futures',                1, 64),
  ('expected-wait',     'leading',                0, 32),
  ('expected-wait',     'qualityMilliseconds',    0, 60000);

-- Weighted: a faster network carries more at once.
INSERT INTO policy (network, name, strategy, parameters) VALUES
  ('wifi',     'weighted-10', 'weighted', '{"leading":10,"maxCost":10}'),
  ('lte',      'weighted-10', 'weighted', '{"leading":10,"maxCost":10}'),
  ('dsl',      'weighted-5',  'weighted', '{"leading":5,"maxCost":5}'),
  ('3g',       'weighted-5',  'weighted', '{"leading":5,"maxCost":5}'),
  ('very-bad', 'weighted-3',  'weighted', '{"leading":3,"maxCost":3}'),
  ('edge',     'weighted-2',  'weighted', '{"leading":2,"maxCost":2}'),
  ('offline',  'weighted-0',  'weighted', '{"leading":0,"maxCost":0}');

-- "The best for the Featured feed was plain prefetch of five elements, without taking into account
-- the format of the content."
INSERT INTO policy (feed, network, name, strategy, parameters)
  SELECT 'featured', name, 'plain-5', 'plain', '{"leading":5}' FROM network_profile;

-- What is wrong with a policy's strategy; `check` asks the same.
CREATE VIEW policy_problem (policy_id, feed, network, strategy, problem) AS
  SELECT policy_id, feed, network, strategy, 'there is no such strategy' FROM policy
    WHERE strategy NOT IN (SELECT name FROM strategy)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy, 'the parameter ' || known.name || ' is missing'
    FROM policy JOIN strategy_parameter AS known USING (strategy)
    WHERE NOT EXISTS (SELECT 1 FROM json_each(parameters) AS given WHERE given.key = known.name)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy,
    'the parameter ' || given.key || ' is unknown, or no whole number in its range'
    FROM policy, json_each(parameters) AS given
    WHERE policy.strategy IN (SELECT name FROM strategy)
      AND NOT EXISTS (SELECT 1 FROM strategy_parameter AS known
      WHERE known.strategy = policy.strategy AND known.name = given.key
        AND given.type = 'integer' AND given.value BETWEEN known.least AND known.most)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy, 'the parameter ' || given.key || ' is there twice'
    FROM policy, json_each(parameters) AS given GROUP BY policy_id, given.key HAVING count(*) > 1;

CREATE TRIGGER feed_entry_retimed AFTER UPDATE OF since, until, published_at ON feed_entry
BEGIN
  INSERT INTO change_log
    (kind, feed_id, post_id, sort_key, id, published_at, since, until, new_since, new_until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, NEW.published_at,
    OLD.since, OLD.until, NEW.since, NEW.until);
END;

CREATE TRIGGER post_author_gone AFTER DELETE ON post BEGIN
  DELETE FROM author WHERE author_id = OLD.author_id
    AND NOT EXISTS (SELECT 1 FROM post WHERE author_id = OLD.author_id);
END;

CREATE TRIGGER network_profile_added AFTER INSERT ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER network_profile_changed AFTER UPDATE ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER network_profile_gone AFTER DELETE ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

-- A post in no feed is on no page: loading new posts, whose entries are written last, logs nothing. One that has
-- an entry is inserted only by a program that replaces rows.
CREATE TRIGGER post_added AFTER INSERT ON post
WHEN EXISTS (SELECT 1 FROM feed_entry WHERE post_id = NEW.post_id)
BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', NEW.post_id);
END;

CREATE TRIGGER post_changed AFTER UPDATE ON post BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', OLD.post_id);
END;

CREATE TRIGGER post_left AFTER DELETE ON post BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', OLD.post_id);
END;

CREATE TRIGGER media_added AFTER INSERT ON media
WHEN EXISTS (SELECT 1 FROM feed_entry WHERE post_id = NEW.post_id)
BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', NEW.post_id);
END;

CREATE TRIGGER media_changed AFTER UPDATE ON media BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', OLD.post_id);
  INSERT INTO change_log (kind, post_id)
    SELECT 'post', NEW.post_id WHERE NEW.post_id <> OLD.post_id;
END;

CREATE TRIGGER author_added AFTER INSERT ON author BEGIN
  INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM post WHERE author_id = NEW.author_id;
END;

CREATE TRIGGER author_changed AFTER UPDATE ON author BEGIN
  INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM post WHERE author_id = OLD.author_id;
END;

CREATE TRIGGER author_gone AFTER DELETE ON author BEGIN
  INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM post WHERE author_id = OLD.author_id;
END;

CREATE TRIGGER post_leaves_runs BEFORE DELETE ON post BEGIN
  DELETE FROM pending_place WHERE post_id = OLD.post_id;
END;

CREATE TRIGGER feed_begins AFTER INSERT ON feed
WHEN NEW.ranking <= (SELECT ranking FROM ranking_floor)
BEGIN
  UPDATE feed SET ranking = (SELECT ranking FROM ranking_floor) + 1,
    oldest_ranking = (SELECT ranking FROM ranking_floor) + 1
  WHERE feed_id = NEW.feed_id;
END;

-- Under another name all cursors end: those of this feed, and those that the name had before.
CREATE TRIGGER feed_renamed AFTER UPDATE OF name ON feed WHEN NEW.name <> OLD.name BEGIN
  UPDATE ranking_floor SET ranking = max(ranking, OLD.ranking);
  UPDATE feed SET ranking = (SELECT ranking FROM ranking_floor) + 1,
    oldest_ranking = (SELECT ranking FROM ranking_floor) + 1
  WHERE feed_id = NEW.feed_id;
  DELETE FROM replaced_ranking WHERE feed_id = NEW.feed_id;
  UPDATE OR REPLACE policy SET feed = NEW.name WHERE feed = OLD.name;
END;

CREATE TRIGGER feed_leaves BEFORE DELETE ON feed BEGIN
  UPDATE ranking_floor SET ranking = max(ranking, OLD.ranking);
  DELETE FROM pending_place WHERE feed_id = OLD.feed_id;
  DELETE FROM replaced_ranking WHERE feed_id = OLD.feed_id;
  DELETE FROM policy WHERE feed = OLD.name;
END;

-- Rows of rankings that are no longer kept, and of feeds that are gone, are not logged: no reader has them.
CREATE TRIGGER feed_entry_gone AFTER DELETE ON feed_entry
WHEN coalesce(OLD.until, 9223372036854775807)
  > (SELECT oldest_ranking FROM feed WHERE feed_id = OLD.feed_id)
BEGIN
  INSERT INTO change_log (kind, feed_id, post_id, sort_key, id, published_at, since, until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, OLD.published_at,
    OLD.since, OLD.until);
END;

CREATE TRIGGER policy_checked AFTER INSERT ON policy
WHEN EXISTS (SELECT 1 FROM policy_problem WHERE policy_id = NEW.policy_id) BEGIN
  SELECT RAISE(ABORT, 'policy: see the tables strategy and strategy_parameter for what there is');
END;

CREATE TRIGGER policy_checked_again AFTER UPDATE OF strategy, parameters ON policy
WHEN EXISTS (SELECT 1 FROM policy_problem WHERE policy_id = NEW.policy_id) BEGIN
  SELECT RAISE(ABORT, 'policy: see the tables strategy and strategy_parameter for what there is');
END;

CREATE TRIGGER policy_added AFTER INSERT ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER policy_changed AFTER UPDATE ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER policy_gone AFTER DELETE ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

CREATE TRIGGER feed_added AFTER INSERT ON feed BEGIN
  INSERT INTO change_log (kind, feed_id) VALUES ('feed', NEW.feed_id);
END;

CREATE TRIGGER feed_changed AFTER UPDATE ON feed BEGIN
  INSERT INTO change_log (kind, feed_id) VALUES ('feed', OLD.feed_id);
  INSERT INTO change_log (kind, feed_id)
    SELECT 'feed', NEW.feed_id WHERE NEW.feed_id <> OLD.feed_id;
END;

-- The entries go once the feed's row is gone, so that they are not logged one by one.
CREATE TRIGGER feed_gone AFTER DELETE ON feed BEGIN
  DELETE FROM feed_entry WHERE feed_id = OLD.feed_id;
  INSERT INTO change_log (kind, feed_id) VALUES ('feed', OLD.feed_id);
END;

-- A post takes what belongs to it along, whichever program deletes it and whether or not that program enforces
-- foreign keys.
CREATE TRIGGER post_gone AFTER DELETE ON post BEGIN
  DELETE FROM feed_entry WHERE post_id = OLD.post_id;
  DELETE FROM media WHERE post_id = OLD.post_id;
END;

-- A deleted post is logged once, and not again for each of its files.
CREATE TRIGGER media_gone AFTER DELETE ON media
WHEN EXISTS (SELECT 1 FROM post WHERE post_id = OLD.post_id)
BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', OLD.post_id);
END;

-- A truth without a file goes.
CREATE TRIGGER media_file_gone AFTER DELETE ON media_file BEGIN
  DELETE FROM media_truth WHERE truth_id = OLD.truth_id
    AND NOT EXISTS (SELECT 1 FROM media_file WHERE truth_id = OLD.truth_id);
END;

CREATE TRIGGER media_file_replaced AFTER UPDATE OF truth_id ON media_file
WHEN NEW.truth_id <> OLD.truth_id BEGIN
  DELETE FROM media_truth WHERE truth_id = OLD.truth_id
    AND NOT EXISTS (SELECT 1 FROM media_file WHERE truth_id = OLD.truth_id);
END;
