-- Network profiles, and how much is loaded ahead on each: the articles' values.

CREATE TABLE network_profile (
  name TEXT PRIMARY KEY CHECK (name <> ''),
  title TEXT NOT NULL,
  -- Kilobits a second; 0 where nothing arrives.
  downlink_kbps INTEGER NOT NULL CHECK (downlink_kbps BETWEEN 0 AND 1000000000),
  uplink_kbps INTEGER NOT NULL CHECK (uplink_kbps BETWEEN 0 AND 1000000000),
  round_trip_ms INTEGER NOT NULL CHECK (round_trip_ms BETWEEN 0 AND 600000),
  loss_percent INTEGER NOT NULL DEFAULT 0 CHECK (loss_percent BETWEEN 0 AND 100),
  -- The ECT client hint that means this network.
  effective_type TEXT UNIQUE,
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX network_profile_default ON network_profile (is_default) WHERE is_default = 1;

-- Apple's Network Link Conditioner has these: delays each way are added up to round trips.
INSERT INTO network_profile
  (name, title, downlink_kbps, uplink_kbps, round_trip_ms, loss_percent, effective_type, is_default)
VALUES
  ('lte',      'LTE',              50000, 10000,  115,   0, '4g',      0),
  ('wifi',     'Wi-Fi',            40000, 33000,    2,   0, NULL,      0),
  ('dsl',      'DSL',               2000,   256,   10,   0, NULL,      0),
  ('very-bad', 'Very bad network',  1000,  1000, 1000,  10, 'slow-2g', 0),
  ('3g',       '3G',                 780,   330,  200,   0, '3g',      1),
  ('edge',     'EDGE',               240,   200,  800,   0, '2g',      0),
  ('offline',  '100 % loss',           0,     0,    0, 100, NULL,      0);

-- The bounds keep every sum that a plan makes far from overflowing.
--
-- One row a feed and network; the row without a feed holds for all that have none of their own.
CREATE TABLE policy (
  policy_id INTEGER PRIMARY KEY,
  feed TEXT CHECK (feed <> ''),
  network TEXT NOT NULL REFERENCES network_profile,
  name TEXT NOT NULL CHECK (name <> ''),
  strategy TEXT NOT NULL CHECK (strategy IN ('plain', 'weighted')),
  max_cost INTEGER NOT NULL CHECK (max_cost BETWEEN 0 AND 1000000),
  leading INTEGER NOT NULL CHECK (leading BETWEEN 0 AND 100),
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

CREATE UNIQUE INDEX policy_of_feed ON policy (coalesce(feed, ''), network);

-- Weighted: a faster network carries more at once.
INSERT INTO policy (network, name, strategy, max_cost, leading) VALUES
  ('wifi',     'weighted-10', 'weighted', 10, 10),
  ('lte',      'weighted-10', 'weighted', 10, 10),
  ('dsl',      'weighted-5',  'weighted',  5,  5),
  ('3g',       'weighted-5',  'weighted',  5,  5),
  ('very-bad', 'weighted-3',  'weighted',  3,  3),
  ('edge',     'weighted-2',  'weighted',  2,  2),
  ('offline',  'weighted-0',  'weighted',  0,  0);

-- "The best for the Featured feed was plain prefetch of five elements, without taking into account
-- the format of the content."
INSERT INTO policy (feed, network, name, strategy, max_cost, leading)
  SELECT 'featured', name, 'plain-5', 'plain', 5, 5 FROM network_profile;

CREATE TRIGGER network_profile_added AFTER INSERT ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER network_profile_changed AFTER UPDATE ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
END;
CREATE TRIGGER network_profile_gone AFTER DELETE ON network_profile BEGIN
  INSERT INTO change_log (kind) VALUES ('settings');
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
