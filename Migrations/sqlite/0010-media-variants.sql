-- Other files that show the same as the file at a URL, in fewer bytes: they lie beside it.

-- A JSON array, in the order of the files' sizes: of each its URL, and what is known of it, as `media_truth` has
-- it. NULL is none.
ALTER TABLE media_file ADD COLUMN variants TEXT
  CHECK (variants IS NULL OR (json_valid(variants) AND json_type(variants) = 'array'));

-- Which posts show a file, when something becomes known of it, wherever the file lies.
DROP INDEX media_of_ours;
CREATE INDEX media_by_url ON media (url);
