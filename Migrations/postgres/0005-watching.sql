-- What Migrations/sqlite/0005-watching.sql comes to, for PostgreSQL.

CREATE TABLE report_watch (
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  hour bigint NOT NULL,
  views bigint NOT NULL,
  figures bytea NOT NULL,
  PRIMARY KEY (kind, name)
);

CREATE INDEX report_watch_by_views ON report_watch (kind, views);

CREATE TABLE report_promise (
  url text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  hour bigint NOT NULL,
  kept bigint NOT NULL,
  late bigint NOT NULL,
  recent_kept bigint NOT NULL,
  recent_late bigint NOT NULL,
  state bigint NOT NULL,
  PRIMARY KEY (url, version, network)
);

CREATE INDEX report_promise_by_state ON report_promise (state) WHERE state <> 0;

ALTER TABLE post ADD COLUMN survival text COLLATE "C";
