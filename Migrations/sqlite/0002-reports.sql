-- What clients report, added up: no row is of one session, address or device.

CREATE TABLE report_cell (
  -- Hours since 1970-01-01T00:00:00Z.
  hour INTEGER NOT NULL,
  -- Of whom it is; empty where clients do not say. All four are empty for those of an hour that are too many to be
  -- told apart.
  feed TEXT NOT NULL,
  policy TEXT NOT NULL,
  arm TEXT NOT NULL,
  network TEXT NOT NULL,
  -- Sums and bins, packed as the program reads them (PackedReport).
  figures BLOB NOT NULL,
  PRIMARY KEY (hour, feed, policy, arm, network)
) STRICT, WITHOUT ROWID;

-- Which parts of reports were counted lately, so that one that comes again is not counted again: hashes of what
-- clients call their sessions, those of one write together, for a day.
CREATE TABLE report_batch (
  -- Numbers rise: the last batch is never deleted.
  batch_id INTEGER PRIMARY KEY,
  hour INTEGER NOT NULL,
  -- Eight bytes each.
  fingerprints BLOB NOT NULL
) STRICT;
