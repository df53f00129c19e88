-- What a reader has to look at again when something changes does not grow with the number of feeds.

-- A feed that changes says which one it is. A check cannot be changed in place: the rows go along, and
-- with them the numbers they have reached.
CREATE TABLE change_log_before AS SELECT * FROM change_log;
DROP TABLE change_log;

CREATE TABLE change_log (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 'entry': an entry's rankings changed from since/until to new_since/new_until, or it is gone.
  -- 'feed': the row of feed_id changed, or is new or gone.
  -- 'post': the row, author or media of post_id changed, or it is gone.
  -- 'settings': a network or a policy changed.
  kind TEXT NOT NULL CHECK (kind IN ('entry', 'feed', 'post', 'settings')),
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

INSERT INTO change_log SELECT * FROM change_log_before;
DROP TABLE change_log_before;

DROP TRIGGER feed_added;
CREATE TRIGGER feed_added AFTER INSERT ON feed BEGIN
  INSERT INTO change_log (kind, feed_id) VALUES ('feed', NEW.feed_id);
END;

DROP TRIGGER feed_changed;
CREATE TRIGGER feed_changed AFTER UPDATE ON feed BEGIN
  INSERT INTO change_log (kind, feed_id) VALUES ('feed', OLD.feed_id);
  INSERT INTO change_log (kind, feed_id)
    SELECT 'feed', NEW.feed_id WHERE NEW.feed_id <> OLD.feed_id;
END;

DROP TRIGGER feed_gone;
CREATE TRIGGER feed_gone AFTER DELETE ON feed BEGIN
  DELETE FROM feed_entry WHERE feed_id = OLD.feed_id;
  INSERT INTO change_log (kind, feed_id) VALUES ('feed', OLD.feed_id);
END;

-- A deleted post is told of once, and not once more for each of its files.
DROP TRIGGER post_gone;
CREATE TRIGGER post_gone AFTER DELETE ON post BEGIN
  DELETE FROM feed_entry WHERE post_id = OLD.post_id;
  DELETE FROM media WHERE post_id = OLD.post_id;
END;

DROP TRIGGER media_gone;
CREATE TRIGGER media_gone AFTER DELETE ON media
WHEN EXISTS (SELECT 1 FROM post WHERE post_id = OLD.post_id)
BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', OLD.post_id);
END;
