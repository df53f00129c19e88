-- What is known of media files is read with every page that is not kept: it lies there in a compact form, which
-- the program reads as it is (PackedTruth), in place of JSON. `packed_truth` and `packed_variants` are functions
-- of the program; what they cannot read they leave as it is, and `lookahead check` tells of it.

ALTER TABLE media_truth ADD COLUMN packed BLOB NOT NULL DEFAULT x'';
UPDATE media_truth SET packed = packed_truth(truth);
ALTER TABLE media_truth DROP COLUMN truth;
ALTER TABLE media_truth RENAME COLUMN packed TO truth;

ALTER TABLE media_file ADD COLUMN packed BLOB;
UPDATE media_file SET packed = packed_variants(variants) WHERE variants IS NOT NULL;
ALTER TABLE media_file DROP COLUMN variants;
ALTER TABLE media_file RENAME COLUMN packed TO variants;
