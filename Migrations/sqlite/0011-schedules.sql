-- Posts that come into their feeds, and leave them, at moments of their own.

-- As their records say; microseconds since 1970-01-01T00:00:00Z, as published_at.
ALTER TABLE post ADD COLUMN visible_from INTEGER
  CHECK (visible_from BETWEEN -62167219200000000 AND 253402300799999999);
ALTER TABLE post ADD COLUMN visible_until INTEGER
  CHECK (visible_until BETWEEN -62167219200000000 AND 253402300799999999);

CREATE INDEX post_with_schedule ON post (post_id)
  WHERE visible_from IS NOT NULL OR visible_until IS NOT NULL;

-- When a post comes or goes next: servers look for what is due.
CREATE TABLE schedule (
  post_id INTEGER PRIMARY KEY REFERENCES post,
  due_at INTEGER NOT NULL
) STRICT;

CREATE INDEX schedule_due ON schedule (due_at);

-- Where a post is to be, or was, that is in no feed as its schedule has it.
CREATE TABLE scheduled_place (
  post_id INTEGER NOT NULL REFERENCES post,
  feed_id INTEGER NOT NULL REFERENCES feed,
  rank INTEGER CHECK (rank >= 0),
  PRIMARY KEY (post_id, feed_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX scheduled_place_by_feed ON scheduled_place (feed_id);

CREATE TRIGGER post_leaves_schedule BEFORE DELETE ON post BEGIN
  DELETE FROM schedule WHERE post_id = OLD.post_id;
  DELETE FROM scheduled_place WHERE post_id = OLD.post_id;
END;

CREATE TRIGGER feed_leaves_schedule BEFORE DELETE ON feed BEGIN
  DELETE FROM scheduled_place WHERE feed_id = OLD.feed_id;
END;
