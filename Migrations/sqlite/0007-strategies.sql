-- A policy's strategy is a name with parameters: what there is, stands in tables, so that whoever writes a
-- policy is refused what the program would not understand. A further strategy is a few rows more.

CREATE TABLE strategy (
  name TEXT PRIMARY KEY CHECK (name <> '')
) STRICT, WITHOUT ROWID;

-- A parameter is a whole number.
CREATE TABLE strategy_parameter (
  strategy TEXT NOT NULL REFERENCES strategy,
  name TEXT NOT NULL CHECK (name <> ''),
  least INTEGER NOT NULL,
  most INTEGER NOT NULL CHECK (most >= least),
  PRIMARY KEY (strategy, name)
) STRICT, WITHOUT ROWID;

INSERT INTO strategy (name) VALUES ('plain'), ('weighted');
INSERT INTO strategy_parameter (strategy, name, least, most) VALUES
  ('plain',    'leading', 0, 100),
  ('weighted', 'leading', 0, 100),
  ('weighted', 'maxCost', 0, 1000000);

-- A check cannot be taken off a table: the policies move to one without it. What `plain` had as its
-- greatest cost meant nothing.
CREATE TABLE policy_before AS SELECT * FROM policy;
DROP TABLE policy;

CREATE TABLE policy (
  policy_id INTEGER PRIMARY KEY,
  feed TEXT CHECK (feed <> ''),
  network TEXT NOT NULL REFERENCES network_profile,
  name TEXT NOT NULL CHECK (name <> ''),
  strategy TEXT NOT NULL REFERENCES strategy,
  -- A JSON object.
  parameters TEXT NOT NULL CHECK (json_valid(parameters) AND json_type(parameters) = 'object'),
  trailing INTEGER NOT NULL DEFAULT 1 CHECK (trailing BETWEEN 0 AND 100),
  image_weight INTEGER NOT NULL DEFAULT 1 CHECK (image_weight BETWEEN 0 AND 1000),
  video_weight INTEGER NOT NULL DEFAULT 2 CHECK (video_weight BETWEEN 0 AND 1000),
  webapp_weight INTEGER NOT NULL DEFAULT 1 CHECK (webapp_weight BETWEEN 0 AND 1000),
  ad_weight INTEGER NOT NULL DEFAULT 1 CHECK (ad_weight BETWEEN 0 AND 1000),
  text_weight INTEGER NOT NULL DEFAULT 0 CHECK (text_weight BETWEEN 0 AND 1000),
  carousel_visible_parts INTEGER NOT NULL DEFAULT 1 CHECK (carousel_visible_parts BETWEEN 1 AND 100),
  video_start_bytes INTEGER NOT NULL DEFAULT 204800 CHECK (video_start_bytes BETWEEN 0 AND 1099511627776),
  video_bytes INTEGER NOT NULL DEFAULT 2097152 CHECK (video_bytes BETWEEN 0 AND 1099511627776),
  video_kbps INTEGER NOT NULL DEFAULT 800 CHECK (video_kbps BETWEEN 0 AND 1000000),
  image_bytes INTEGER NOT NULL DEFAULT 153600 CHECK (image_bytes BETWEEN 0 AND 1099511627776),
  webapp_bytes INTEGER NOT NULL DEFAULT 307200 CHECK (webapp_bytes BETWEEN 0 AND 1099511627776),
  next_page_percent INTEGER NOT NULL DEFAULT 70 CHECK (next_page_percent BETWEEN 0 AND 100),
  items_per_minute INTEGER NOT NULL DEFAULT 60 CHECK (items_per_minute BETWEEN 1 AND 6000)
) STRICT;

INSERT INTO policy
  SELECT policy_id, feed, network, name, strategy,
    CASE strategy WHEN 'plain' THEN json_object('leading', leading)
      ELSE json_object('leading', leading, 'maxCost', max_cost) END,
    trailing, image_weight, video_weight, webapp_weight, ad_weight, text_weight,
    carousel_visible_parts, video_start_bytes, video_bytes, video_kbps, image_bytes, webapp_bytes,
    next_page_percent, items_per_minute
  FROM policy_before;
DROP TABLE policy_before;
CREATE UNIQUE INDEX policy_of_feed ON policy (coalesce(feed, ''), network);

-- What is wrong with a policy's strategy; `check` asks the same.
CREATE VIEW policy_problem (policy_id, feed, network, strategy, problem) AS
  SELECT policy_id, feed, network, strategy, 'there is no such strategy' FROM policy
    WHERE strategy NOT IN (SELECT name FROM strategy)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy, 'the parameter ' || known.name || ' is missing'
    FROM policy JOIN strategy_parameter AS known USING (strategy)
    WHERE NOT EXISTS (SELECT 1 FROM json_each(parameters) AS given WHERE given.key = known.name)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy,
    'the parameter ' || given.key || ' is unknown, or no whole number in its range'
    FROM policy, json_each(parameters) AS given
    WHERE policy.strategy IN (SELECT name FROM strategy)
      AND NOT EXISTS (SELECT 1 FROM strategy_parameter AS known
      WHERE known.strategy = policy.strategy AND known.name = given.key
        AND given.type = 'integer' AND given.value BETWEEN known.least AND known.most)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy, 'the parameter ' || given.key || ' is there twice'
    FROM policy, json_each(parameters) AS given GROUP BY policy_id, given.key HAVING count(*) > 1;

CREATE TRIGGER policy_checked AFTER INSERT ON policy
WHEN EXISTS (SELECT 1 FROM policy_problem WHERE policy_id = NEW.policy_id) BEGIN
  SELECT RAISE(ABORT, 'policy: see the tables strategy and strategy_parameter for what there is');
END;
CREATE TRIGGER policy_checked_again AFTER UPDATE OF strategy, parameters ON policy
WHEN EXISTS (SELECT 1 FROM policy_problem WHERE policy_id = NEW.policy_id) BEGIN
  SELECT RAISE(ABORT, 'policy: see the tables strategy and strategy_parameter for what there is');
END;

CREATE TRIGGER policy_added AFTER INSERT ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER policy_changed AFTER UPDATE ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER policy_gone AFTER DELETE ON policy BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
