-- What changed, for whoever keeps a copy (docs/changes.md): `change_log` and new entries, read from a place on.

-- New entries are not logged: a row of the log stands behind the entries that were there when it was written.
ALTER TABLE change_log ADD COLUMN after_entry INTEGER;

-- A trigger on the log would make a table in memory of all that a statement logs. So each says so itself; rows that do
-- not, of files and authors, stand where the row before them does.
DROP TRIGGER IF EXISTS feed_entry_retimed;
CREATE TRIGGER feed_entry_retimed AFTER UPDATE OF since, until, published_at ON feed_entry
BEGIN
  INSERT INTO change_log (kind, feed_id, post_id, sort_key, id, published_at, since, until,
    new_since, new_until, after_entry)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, NEW.published_at,
    OLD.since, OLD.until, NEW.since, NEW.until, (SELECT max(entry_id) FROM feed_entry));
END;

DROP TRIGGER IF EXISTS feed_entry_gone;
CREATE TRIGGER feed_entry_gone AFTER DELETE ON feed_entry
WHEN coalesce(OLD.until, 9223372036854775807)
  > (SELECT oldest_ranking FROM feed WHERE feed_id = OLD.feed_id)
BEGIN
  INSERT INTO change_log
    (kind, feed_id, post_id, sort_key, id, published_at, since, until, after_entry)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, OLD.published_at,
    OLD.since, OLD.until, coalesce((SELECT max(entry_id) FROM feed_entry), 0));
END;

DROP TRIGGER IF EXISTS post_changed;
CREATE TRIGGER post_changed AFTER UPDATE ON post BEGIN
  INSERT INTO change_log (kind, post_id, after_entry)
    VALUES ('post', OLD.post_id, coalesce((SELECT max(entry_id) FROM feed_entry), 0));
END;

-- What is gone is told by its id, and a feed of another name by both names.
DROP TRIGGER IF EXISTS post_left;
CREATE TRIGGER post_left AFTER DELETE ON post BEGIN
  INSERT INTO change_log (kind, post_id, id, after_entry)
    VALUES ('post', OLD.post_id, OLD.id, coalesce((SELECT max(entry_id) FROM feed_entry), 0));
END;

CREATE TABLE change_source (
  "only" INTEGER PRIMARY KEY CHECK ("only" = 1),
  -- Tells cursors of this database from those of others; a backup gets another one.
  source INTEGER NOT NULL,
  -- How many rows of the log are kept.
  kept_changes INTEGER NOT NULL DEFAULT 200000 CHECK (kept_changes BETWEEN 1000 AND 1000000000)
) STRICT;
INSERT INTO change_source ("only", source) VALUES (1, random());

DROP TRIGGER IF EXISTS feed_gone;
CREATE TRIGGER feed_gone AFTER DELETE ON feed BEGIN
  -- Posts that were in no other feed are still there: who has not read their entries learns of them by this.
  INSERT INTO change_log (kind, post_id, after_entry)
    SELECT 'post', post_id, (SELECT max(entry_id) FROM feed_entry) FROM feed_entry AS gone
    WHERE feed_id = OLD.feed_id AND until IS NULL AND NOT EXISTS (
      SELECT 1 FROM feed_entry AS other
      WHERE other.post_id = gone.post_id AND other.feed_id <> OLD.feed_id);
  DELETE FROM feed_entry WHERE feed_id = OLD.feed_id;
  INSERT INTO change_log (kind, feed_id, id, after_entry)
    VALUES ('feed', OLD.feed_id, OLD.name, (SELECT max(entry_id) FROM feed_entry));
END;

DROP TRIGGER IF EXISTS feed_added;
CREATE TRIGGER feed_added AFTER INSERT ON feed BEGIN
  INSERT INTO change_log (kind, feed_id, after_entry)
    VALUES ('feed', NEW.feed_id, (SELECT max(entry_id) FROM feed_entry));
END;

DROP TRIGGER IF EXISTS feed_changed;
CREATE TRIGGER feed_changed AFTER UPDATE ON feed BEGIN
  INSERT INTO change_log (kind, feed_id, after_entry)
    VALUES ('feed', OLD.feed_id, (SELECT max(entry_id) FROM feed_entry));
  INSERT INTO change_log (kind, feed_id)
    SELECT 'feed', NEW.feed_id WHERE NEW.feed_id <> OLD.feed_id;
END;

CREATE TRIGGER feed_renamed_told AFTER UPDATE OF name ON feed WHEN NEW.name <> OLD.name BEGIN
  INSERT INTO change_log (kind, feed_id, id, after_entry)
    VALUES ('feed', OLD.feed_id, OLD.name, (SELECT max(entry_id) FROM feed_entry));
  INSERT INTO change_log (kind, feed_id, id, after_entry)
    VALUES ('feed', NEW.feed_id, NEW.name, (SELECT max(entry_id) FROM feed_entry));
END;

-- How far each webhook has been told (docs/changes.md#webhooks). Times are milliseconds since 1970.
CREATE TABLE webhook (
  name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
  -- Rises with every change of the row: who writes names the one that it read.
  revision INTEGER NOT NULL CHECK (revision >= 1),
  -- The cursor up to which all was told.
  position TEXT NOT NULL,
  -- The cursor through which it is being told.
  until TEXT,
  -- Whether it is being told that changes are lost.
  is_reset INTEGER NOT NULL DEFAULT 0 CHECK (is_reset = 0 OR is_reset = 1),
  behind_since INTEGER,
  -- Since the last success.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  next_attempt INTEGER,
  last_success INTEGER,
  last_failure INTEGER,
  last_problem TEXT
) STRICT, WITHOUT ROWID;
