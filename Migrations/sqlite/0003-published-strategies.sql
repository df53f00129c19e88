-- Strategies as others published them.
INSERT INTO strategy (name) VALUES ('preload-manager'), ('fixed-preload'), ('no-save');

INSERT INTO strategy_parameter (strategy, name, least, most) VALUES
  ('preload-manager', 'loadedMilliseconds', 0, 600000),
  ('preload-manager', 'loadedDistance',     0, 100),
  ('preload-manager', 'cachedMilliseconds', 0, 600000),
  ('preload-manager', 'cachedDistance',     0, 100),
  ('fixed-preload',   'leading',            0, 100),
  ('fixed-preload',   'seconds',            0, 600),
  ('fixed-preload',   'retentionPermille',  0, 1000),
  ('no-save',         'leading',            0, 100),
  ('no-save',         'bytes',              1, 1000000000);
