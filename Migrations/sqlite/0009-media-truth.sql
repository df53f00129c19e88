-- What is known of media files because somebody looked into them. It is no part of a post: what a record says
-- of its files stays as it is.

CREATE TABLE media_truth (
  truth_id INTEGER PRIMARY KEY,
  -- Of what it is true: of a content, wherever that lies ('sha256:…'), or of what a URL's validator stands
  -- for ('etag:"…" URL', 'modified:… URL').
  version TEXT NOT NULL UNIQUE CHECK (version <> ''),
  -- A JSON object, as `lookahead probe` prints it.
  truth TEXT NOT NULL CHECK (json_valid(truth) AND json_type(truth) = 'object')
) STRICT;

-- What lies at a URL, as posts name it.
CREATE TABLE media_file (
  url TEXT PRIMARY KEY CHECK (url <> ''),
  truth_id INTEGER NOT NULL REFERENCES media_truth,
  -- When a file on a disk was last changed, in nanoseconds since 1970: one that looks as it did is not read
  -- again.
  modified_ns INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX media_file_by_truth ON media_file (truth_id);

-- What nothing lies at any longer goes.
CREATE TRIGGER media_file_gone AFTER DELETE ON media_file BEGIN
  DELETE FROM media_truth WHERE truth_id = OLD.truth_id
    AND NOT EXISTS (SELECT 1 FROM media_file WHERE truth_id = OLD.truth_id);
END;
CREATE TRIGGER media_file_replaced AFTER UPDATE OF truth_id ON media_file
WHEN NEW.truth_id <> OLD.truth_id BEGIN
  DELETE FROM media_truth WHERE truth_id = OLD.truth_id
    AND NOT EXISTS (SELECT 1 FROM media_file WHERE truth_id = OLD.truth_id);
END;

-- Which posts show a file of ours, when something becomes known of it. URLs of others are looked for in all
-- rows, many at once: an index of every URL would be a quarter of the database.
CREATE INDEX media_of_ours ON media (url) WHERE substr(url, 1, 1) = '/';
