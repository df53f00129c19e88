-- What a client that sends a request again under the same key is answered.

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
