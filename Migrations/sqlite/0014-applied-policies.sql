-- Policies that the lab found, with what they rest on and what stood there before, so that each can be taken
-- back: the newest of a feed and network first.
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
