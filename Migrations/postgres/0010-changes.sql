-- What Migrations/sqlite/0010-changes.sql comes to, for PostgreSQL, where rows of the log and entries are in the order
-- of their transactions.

CREATE TABLE change_source (
  "only" bigint PRIMARY KEY CHECK ("only" = 1),
  source bigint NOT NULL,
  kept_changes bigint NOT NULL DEFAULT 200000 CHECK (kept_changes BETWEEN 1000 AND 1000000000)
);
INSERT INTO change_source ("only", source)
  SELECT 1, ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::bigint;

CREATE FUNCTION log_gone_posts() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO change_log (kind, post_id, id) SELECT 'post', post_id, id FROM was;
  RETURN NULL;
END $$;

DROP TRIGGER post_left ON post;
CREATE TRIGGER post_left AFTER DELETE ON post REFERENCING OLD TABLE AS was
  FOR EACH STATEMENT EXECUTE FUNCTION log_gone_posts();

CREATE FUNCTION log_gone_feeds() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO change_log (kind, feed_id, id) SELECT 'feed', feed_id, name FROM was;
  RETURN NULL;
END $$;

DROP TRIGGER feed_gone ON feed;
CREATE TRIGGER feed_gone AFTER DELETE ON feed REFERENCING OLD TABLE AS was
  FOR EACH STATEMENT EXECUTE FUNCTION log_gone_feeds();

-- Posts that were in no other feed are still there: who has not read their entries learns of them by this.
CREATE FUNCTION log_left_posts() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO change_log (kind, post_id)
  SELECT 'post', post_id FROM feed_entry AS gone
  WHERE feed_id = OLD.feed_id AND until IS NULL AND NOT EXISTS (
    SELECT 1 FROM feed_entry AS other
    WHERE other.post_id = gone.post_id AND other.feed_id <> OLD.feed_id);
  RETURN OLD;
END $$;

CREATE TRIGGER feed_leaves_posts BEFORE DELETE ON feed FOR EACH ROW EXECUTE FUNCTION log_left_posts();

CREATE FUNCTION log_renamed_feeds() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO change_log (kind, feed_id, id)
  SELECT 'feed', was.feed_id, unnest(ARRAY[was.name, now.name])
  FROM was JOIN now USING (feed_id) WHERE was.name <> now.name;
  RETURN NULL;
END $$;

CREATE TRIGGER feed_renamed_told AFTER UPDATE ON feed REFERENCING OLD TABLE AS was NEW TABLE AS now
  FOR EACH STATEMENT EXECUTE FUNCTION log_renamed_feeds();

CREATE TABLE webhook (
  name text COLLATE "C" NOT NULL PRIMARY KEY CHECK (name <> ''),
  revision bigint NOT NULL CHECK (revision >= 1),
  position text COLLATE "C" NOT NULL,
  until text COLLATE "C",
  is_reset bigint NOT NULL DEFAULT 0 CHECK (is_reset IN (0, 1)),
  behind_since bigint,
  failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
  next_attempt bigint,
  last_success bigint,
  last_failure bigint,
  last_problem text COLLATE "C"
);
