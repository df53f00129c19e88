-- The engine's strategies, with the ranges of their parameters: what a policy may name from now on.

INSERT INTO strategy (name) VALUES
  ('standard'), ('endless'), ('threshold-fixed'), ('threshold-dynamic'), ('lazy-target'),
  ('range-controller'), ('stages'), ('expected-wait');

INSERT INTO strategy_parameter (strategy, name, least, most) VALUES
  ('standard',          'leading',                0, 100),
  ('threshold-fixed',   'percent',                1, 100),
  ('threshold-dynamic', 'percent',                1, 100),
  ('lazy-target',       'leading',                0, 100),
  ('lazy-target',       'trailing',               0, 100),
  -- Hundredths of screenfuls.
  ('range-controller',  'displayLeading',         0, 2000),
  ('range-controller',  'displayTrailing',        0, 2000),
  ('range-controller',  'preloadLeading',         0, 2000),
  ('range-controller',  'preloadTrailing',        0, 2000),
  ('range-controller',  'minimumDisplayLeading',  0, 2000),
  ('range-controller',  'minimumDisplayTrailing', 0, 2000),
  ('range-controller',  'minimumPreloadLeading',  0, 2000),
  ('range-controller',  'minimumPreloadTrailing', 0, 2000),
  ('stages',            'loadedMilliseconds',     0, 600000),
  ('stages',            'loadedDistance',         0, 100),
  ('stages',            'preparedDistance',       0, 100),
  -- Milliseconds of waiting that a megabyte has to save.
  ('expected-wait',     'price',                  0, 1000000),
  ('expected-wait',     'quantilePercent',        0, 100),
  ('expected-wait',     'stepBytes',              1024, 16777216),
  ('expected-wait',     'futures',                1, 64),
  ('expected-wait',     'leading',                0, 32),
  ('expected-wait',     'qualityMilliseconds',    0, 60000);
