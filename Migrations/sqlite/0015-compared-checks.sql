-- For a check of three values or more, SQLite makes a table of them in memory for each row that is written: a
-- quarter of all that a seed takes. Compared one by one they say the same, and nothing is made.

-- A check cannot be changed in place but by its text: rows and indexes are as they were, however many there are
-- (https://sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (type IN (''image'', ''video'', ''carousel'', ''webapp'', ''ad'', ''text'', ''audio''))',
    'CHECK (type = ''image'' OR type = ''video'' OR type = ''carousel'' OR type = ''webapp''
    OR type = ''ad'' OR type = ''text'' OR type = ''audio'')')
  WHERE type = 'table' AND name = 'post';
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (kind IN (''image'', ''video'', ''audio''))',
    'CHECK (kind = ''image'' OR kind = ''video'' OR kind = ''audio'')')
  WHERE type = 'table' AND name = 'media';
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (kind IN (''entry'', ''feed'', ''post'', ''settings''))',
    'CHECK (kind = ''entry'' OR kind = ''feed'' OR kind = ''post'' OR kind = ''settings'')')
  WHERE type = 'table' AND name = 'change_log';
PRAGMA writable_schema = RESET;
