-- Strategies for short videos, as others published or measured them.
INSERT INTO strategy (name) VALUES ('tiktok'), ('dashlet'), ('pdas');

INSERT INTO strategy_parameter (strategy, name, least, most) VALUES
  ('tiktok',  'leading',             0, 100),
  ('tiktok',  'groupItems',          1, 1000),
  ('tiktok',  'firstBytes',          1, 1000000000),
  ('dashlet', 'leading',             0, 32),
  ('dashlet', 'partMilliseconds',    1000, 60000),
  ('dashlet', 'horizonSeconds',      1, 120),
  ('pdas',    'leading',             0, 32),
  ('pdas',    'safeMilliseconds',    0, 600000),
  ('pdas',    'megabitMilliseconds', 0, 60000);
