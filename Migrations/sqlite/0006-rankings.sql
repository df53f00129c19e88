-- A ranking in the making belongs to the run that makes it, and is kept aside until that publishes it.

-- A run that moves entries; its program holds a lock for as long as it is at work.
CREATE TABLE ranking_run (
  -- AUTOINCREMENT: the number of a run that is over never comes to mean another one.
  run_id INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;

-- The place that a run gives a post in a feed: by its rank, or else by its time.
CREATE TABLE pending_place (
  run_id INTEGER NOT NULL REFERENCES ranking_run,
  feed_id INTEGER NOT NULL REFERENCES feed,
  post_id INTEGER NOT NULL REFERENCES post,
  rank INTEGER CHECK (rank >= 0),
  PRIMARY KEY (run_id, feed_id, post_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pending_place_by_post ON pending_place (post_id, run_id);

CREATE TRIGGER post_leaves_runs BEFORE DELETE ON post BEGIN
  DELETE FROM pending_place WHERE post_id = OLD.post_id;
END;

-- Until now such moves stood among the entries, for the next ranking that anybody made. They become
-- those of a run that is over.
INSERT INTO ranking_run (run_id)
  SELECT 1 WHERE EXISTS (
    SELECT 1 FROM feed CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_opened
      ON entry.feed_id = feed.feed_id AND entry.since > 1 AND entry.since > feed.ranking)
  OR EXISTS (
    SELECT 1 FROM feed CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_closed
      ON entry.feed_id = feed.feed_id AND entry.until IS NOT NULL AND entry.until > feed.ranking);

INSERT INTO pending_place (run_id, feed_id, post_id, rank)
  SELECT 1, entry.feed_id, entry.post_id, entry.rank
  FROM feed CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_opened
    ON entry.feed_id = feed.feed_id AND entry.since > 1 AND entry.since > feed.ranking;

DELETE FROM feed_entry WHERE entry_id IN (
  SELECT entry.entry_id FROM feed CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_opened
    ON entry.feed_id = feed.feed_id AND entry.since > 1 AND entry.since > feed.ranking);

UPDATE feed_entry SET until = NULL,
    published_at = (SELECT published_at FROM post WHERE post.post_id = feed_entry.post_id)
  WHERE entry_id IN (
    SELECT entry.entry_id FROM feed CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_closed
      ON entry.feed_id = feed.feed_id AND entry.until IS NOT NULL AND entry.until > feed.ranking);

-- When a ranking that is kept was followed by the next: microseconds since 1970-01-01T00:00:00Z.
CREATE TABLE replaced_ranking (
  feed_id INTEGER NOT NULL REFERENCES feed,
  ranking INTEGER NOT NULL CHECK (ranking >= 1),
  replaced_at INTEGER NOT NULL,
  PRIMARY KEY (feed_id, ranking)
) STRICT, WITHOUT ROWID;

-- The greatest ranking of a feed that is gone or has another name: rankings of new feeds begin above,
-- so that no cursor of the old one fits them.
CREATE TABLE ranking_floor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  ranking INTEGER NOT NULL
) STRICT;
INSERT INTO ranking_floor VALUES (1, 0);

CREATE TRIGGER feed_begins AFTER INSERT ON feed
WHEN NEW.ranking <= (SELECT ranking FROM ranking_floor)
BEGIN
  UPDATE feed SET ranking = (SELECT ranking FROM ranking_floor) + 1,
    oldest_ranking = (SELECT ranking FROM ranking_floor) + 1
  WHERE feed_id = NEW.feed_id;
END;

-- Under another name all cursors end: those of this feed, and those that the name had before.
CREATE TRIGGER feed_renamed AFTER UPDATE OF name ON feed WHEN NEW.name <> OLD.name BEGIN
  UPDATE ranking_floor SET ranking = max(ranking, OLD.ranking);
  UPDATE feed SET ranking = (SELECT ranking FROM ranking_floor) + 1,
    oldest_ranking = (SELECT ranking FROM ranking_floor) + 1
  WHERE feed_id = NEW.feed_id;
  DELETE FROM replaced_ranking WHERE feed_id = NEW.feed_id;
  UPDATE OR REPLACE policy SET feed = NEW.name WHERE feed = OLD.name;
END;

-- The entries go once the feed's row is gone, so that they are not logged one by one.
DROP TRIGGER feed_leaves;
DROP TRIGGER feed_gone;

CREATE TRIGGER feed_leaves BEFORE DELETE ON feed BEGIN
  UPDATE ranking_floor SET ranking = max(ranking, OLD.ranking);
  DELETE FROM pending_place WHERE feed_id = OLD.feed_id;
  DELETE FROM replaced_ranking WHERE feed_id = OLD.feed_id;
  DELETE FROM policy WHERE feed = OLD.name;
END;

CREATE TRIGGER feed_gone AFTER DELETE ON feed BEGIN
  DELETE FROM feed_entry WHERE feed_id = OLD.feed_id;
  INSERT INTO change_log (kind) VALUES ('settings');
END;

-- Rows of rankings that are no longer kept, and of feeds that are gone, go without a word: no reader
-- has them.
DROP TRIGGER feed_entry_gone;
CREATE TRIGGER feed_entry_gone AFTER DELETE ON feed_entry
WHEN coalesce(OLD.until, 9223372036854775807)
  > (SELECT oldest_ranking FROM feed WHERE feed_id = OLD.feed_id)
BEGIN
  INSERT INTO change_log (kind, feed_id, post_id, sort_key, id, published_at, since, until)
  VALUES ('entry', OLD.feed_id, OLD.post_id, OLD.sort_key, OLD.id, OLD.published_at,
    OLD.since, OLD.until);
END;
