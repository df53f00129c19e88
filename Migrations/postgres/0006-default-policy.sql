-- What Migrations/sqlite/0006-default-policy.sql comes to, for PostgreSQL.
UPDATE policy SET name = 'expected-wait', strategy = 'expected-wait', parameters = '{}'
WHERE feed IS NULL AND (network, name, strategy, parameters) IN (VALUES
    ('wifi',     'weighted-10', 'weighted', '{"leading":10,"maxCost":10}'),
    ('lte',      'weighted-10', 'weighted', '{"leading":10,"maxCost":10}'),
    ('dsl',      'weighted-5',  'weighted', '{"leading":5,"maxCost":5}'),
    ('3g',       'weighted-5',  'weighted', '{"leading":5,"maxCost":5}'),
    ('very-bad', 'weighted-3',  'weighted', '{"leading":3,"maxCost":3}'),
    ('edge',     'weighted-2',  'weighted', '{"leading":2,"maxCost":2}'))
  AND "trailing" = 1 AND image_weight = 1 AND video_weight = 2 AND webapp_weight = 1 AND ad_weight = 1
  AND text_weight = 0 AND carousel_visible_parts = 1
  AND NOT EXISTS (SELECT 1 FROM applied_policy
    WHERE applied_policy.feed IS NULL AND applied_policy.network = policy.network);
