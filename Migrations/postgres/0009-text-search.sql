-- What Migrations/sqlite/0009-text-search.sql comes to, for PostgreSQL.

CREATE TABLE post_text (
  post_id bigint PRIMARY KEY,
  words tsvector NOT NULL
);

CREATE INDEX post_text_words ON post_text USING gin (words);

CREATE TABLE text_index (
  "only" bigint PRIMARY KEY CHECK ("only" = 1),
  missing_below bigint NOT NULL CHECK (missing_below >= 0)
);

INSERT INTO text_index SELECT 1, coalesce(max(post_id) + 1, 0) FROM post;

CREATE FUNCTION forget_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM post_text WHERE post_id IN (SELECT post_id FROM was);
  RETURN NULL;
END $$;

CREATE TRIGGER post_text_gone AFTER DELETE ON post REFERENCING OLD TABLE AS was
  FOR EACH STATEMENT EXECUTE FUNCTION forget_words();

-- The newest posts below a number that have words. A GIN index is read by bitmaps, which the program's connections
-- avoid otherwise; whether it is worth it, or so many posts have the words that the newest ones are read one by one,
-- depends on the words: it is planned each time.
CREATE FUNCTION posts_with_words(query text, below bigint, count bigint) RETURNS SETOF bigint
  LANGUAGE plpgsql STABLE ROWS 100 SET search_path FROM CURRENT
  SET enable_bitmapscan = on SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY SELECT post_id FROM post_text
    WHERE words @@ query::tsquery AND post_id < below ORDER BY post_id DESC LIMIT count;
END $$;
