-- The log says which posts changed, so that readers may keep what they made of them.

-- A check cannot be changed in place. The rows go along, and with them the numbers they have reached:
-- a reader that follows the log goes on.
CREATE TABLE change_log_before AS SELECT * FROM change_log;
DROP TABLE change_log;

CREATE TABLE change_log (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 'entry': an entry's rankings changed from since/until to new_since/new_until, or it is gone.
  -- 'post': the row, author or media of post_id changed, or it is gone.
  -- 'settings': a feed, a network or a policy changed.
  kind TEXT NOT NULL CHECK (kind IN ('entry', 'post', 'settings')),
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

-- A post that no feed has is on no page: loading new posts, whose entries are written last, logs
-- nothing. One that has an entry is inserted only by a program that replaces rows.
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

CREATE TRIGGER media_gone AFTER DELETE ON media BEGIN
  INSERT INTO change_log (kind, post_id) VALUES ('post', OLD.post_id);
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
