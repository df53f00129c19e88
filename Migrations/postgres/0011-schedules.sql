-- What Migrations/sqlite/0011-schedules.sql comes to, for PostgreSQL.

ALTER TABLE post ADD COLUMN visible_from bigint
  CHECK (visible_from BETWEEN -62167219200000000 AND 253402300799999999);
ALTER TABLE post ADD COLUMN visible_until bigint
  CHECK (visible_until BETWEEN -62167219200000000 AND 253402300799999999);

CREATE TABLE schedule (
  post_id bigint PRIMARY KEY REFERENCES post ON DELETE CASCADE,
  due_at bigint NOT NULL
);

CREATE INDEX schedule_due ON schedule (due_at);

CREATE TABLE scheduled_place (
  post_id bigint NOT NULL REFERENCES post ON DELETE CASCADE,
  feed_id bigint NOT NULL REFERENCES feed ON DELETE CASCADE,
  rank bigint CHECK (rank >= 0),
  PRIMARY KEY (post_id, feed_id)
);

CREATE INDEX scheduled_place_by_feed ON scheduled_place (feed_id);
