-- What Migrations/sqlite/0002-reports.sql comes to, for PostgreSQL.

CREATE TABLE report_cell (
  hour bigint NOT NULL,
  feed text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL,
  arm text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  figures bytea NOT NULL,
  PRIMARY KEY (hour, feed, policy, arm, network)
);

CREATE TABLE report_batch (
  batch_id bigint PRIMARY KEY,
  hour bigint NOT NULL,
  fingerprints bytea NOT NULL
);
