-- The words of posts, by which texts are found (SearchWords): titles, texts, tags, authors' names.

-- rowid is post_id; words are each once, with a space between two, in the form in which they are compared: the
-- tokenizer has only to split them. Where a word stands is not kept.
CREATE VIRTUAL TABLE post_text USING fts5 (words, detail = none, columnsize = 0, tokenize = 'ascii');

-- Posts of numbers below are not indexed yet: those of a database that is older than the index, or of a copy. The
-- server, or `migrate up`, indexes them bit by bit.
CREATE TABLE text_index (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  missing_below INTEGER NOT NULL CHECK (missing_below >= 0)
) STRICT;

INSERT INTO text_index SELECT 1, coalesce(max(post_id) + 1, 0) FROM post;

CREATE TRIGGER post_text_gone AFTER DELETE ON post BEGIN
  DELETE FROM post_text WHERE rowid = OLD.post_id;
END;
