-- Experiments on policies. What was decided is only ever added: nobody edits it.

CREATE TABLE experiment (
  experiment_id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 'trial': a policy is tried; 'holdout': one was applied, and the one of before stays with a few sessions.
  kind TEXT NOT NULL CHECK (kind = 'trial' OR kind = 'holdout'),
  -- As in policy: NULL for all feeds that have no policy of their own.
  feed TEXT CHECK (feed <> ''),
  -- NULL for all networks.
  network TEXT CHECK (network <> ''),
  -- What the arm b loads by: name, strategy, parameters, image_weight and video_weight as a JSON object.
  setting TEXT NOT NULL CHECK (json_valid(setting) AND json_type(setting) = 'object'),
  -- What clients draw their arms by.
  salt TEXT NOT NULL CHECK (salt <> ''),
  -- How many of a thousand sessions have the arm b at the most.
  share_permille INTEGER NOT NULL CHECK (share_permille BETWEEN 1 AND 500),
  margin_percent INTEGER NOT NULL CHECK (margin_percent BETWEEN 0 AND 100),
  days INTEGER NOT NULL CHECK (days BETWEEN 1 AND 3650)
) STRICT;

-- The history of experiments: the last step of one is its state.
CREATE TABLE experiment_step (
  step_id INTEGER PRIMARY KEY AUTOINCREMENT,
  experiment_id INTEGER NOT NULL REFERENCES experiment,
  -- Microseconds since 1970.
  taken_at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind <> ''),
  -- How many of a thousand sessions have the arm b from then on.
  share_permille INTEGER NOT NULL CHECK (share_permille BETWEEN 0 AND 500),
  -- Why, and by what figures.
  evidence TEXT NOT NULL
    CHECK (json_valid(evidence) AND json_type(evidence) = 'object' AND length(evidence) <= 65536)
) STRICT;

CREATE INDEX experiment_step_of ON experiment_step (experiment_id, step_id);

CREATE TRIGGER experiment_stays BEFORE UPDATE ON experiment BEGIN
  SELECT RAISE(ABORT, 'experiment: the history of experiments is not edited');
END;

CREATE TRIGGER experiment_is_kept BEFORE DELETE ON experiment BEGIN
  SELECT RAISE(ABORT, 'experiment: the history of experiments is not edited');
END;

CREATE TRIGGER experiment_step_stays BEFORE UPDATE ON experiment_step BEGIN
  SELECT RAISE(ABORT, 'experiment_step: the history of experiments is not edited');
END;

CREATE TRIGGER experiment_step_is_kept BEFORE DELETE ON experiment_step BEGIN
  SELECT RAISE(ABORT, 'experiment_step: the history of experiments is not edited');
END;

CREATE TRIGGER experiment_step_taken AFTER INSERT ON experiment_step BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;

-- What one process of all that have the database open does.
CREATE TABLE lease (
  name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
  holder TEXT NOT NULL,
  -- Milliseconds since 1970.
  held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
