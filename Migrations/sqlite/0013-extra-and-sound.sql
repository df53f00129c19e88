-- What a post holds beside what this program understands, and sound as a kind.

-- A check, and that an author has an id, cannot be changed in place but by their text: rows and indexes are as
-- they were, however many there are (https://sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (type IN (''image'', ''video'', ''carousel'', ''webapp'', ''ad'', ''text''))',
    'CHECK (type IN (''image'', ''video'', ''carousel'', ''webapp'', ''ad'', ''text'', ''audio''))')
  WHERE type = 'table' AND name = 'post';
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (kind IN (''image'', ''video''))', 'CHECK (kind IN (''image'', ''video'', ''audio''))')
  WHERE type = 'table' AND name = 'media';
-- Of some authors only a name is known.
UPDATE sqlite_schema SET sql = replace(sql,
    'id TEXT NOT NULL CHECK (id <> '''')', 'id TEXT CHECK (id <> '''')')
  WHERE type = 'table' AND name = 'author';
PRAGMA writable_schema = RESET;

-- `extra` is a JSON object of the origin's, kept as it was written but for white space.
ALTER TABLE post ADD COLUMN language TEXT CHECK (language <> '');
ALTER TABLE post ADD COLUMN extra TEXT
  CHECK (extra IS NULL OR (json_valid(extra) AND json_type(extra) = 'object' AND extra <> '{}'));

ALTER TABLE author ADD COLUMN avatar TEXT CHECK (avatar <> '');
ALTER TABLE author ADD COLUMN extra TEXT
  CHECK (extra IS NULL OR (json_valid(extra) AND json_type(extra) = 'object' AND extra <> '{}'));

ALTER TABLE media ADD COLUMN alt TEXT CHECK (alt <> '');
ALTER TABLE media ADD COLUMN poster TEXT CHECK (poster <> '');
-- A JSON object of a ThumbHash, a colour, or both.
ALTER TABLE media ADD COLUMN placeholder TEXT CHECK (
  placeholder IS NULL OR (json_valid(placeholder) AND json_type(placeholder) = 'object'));
ALTER TABLE media ADD COLUMN extra TEXT
  CHECK (extra IS NULL OR (json_valid(extra) AND json_type(extra) = 'object' AND extra <> '{}'));

-- Whether any row has these is asked before each page: where none has, they are not read.
CREATE INDEX post_with_details ON post (post_id) WHERE language IS NOT NULL OR extra IS NOT NULL;
CREATE INDEX author_with_details ON author (author_id) WHERE avatar IS NOT NULL OR extra IS NOT NULL;
CREATE INDEX media_with_details ON media (post_id) WHERE
  alt IS NOT NULL OR poster IS NOT NULL OR placeholder IS NOT NULL OR extra IS NOT NULL;

-- An author who changed anything has a row for each: a post says who its author was then.
DROP INDEX author_by_id;
CREATE UNIQUE INDEX author_by_id ON author
  (coalesce(id, ''), coalesce(name, ''), coalesce(avatar, ''), coalesce(extra, ''));
