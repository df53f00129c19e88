-- What Migrations/sqlite/0004-usual-parameters.sql comes to, for PostgreSQL.
CREATE OR REPLACE VIEW policy_problem (policy_id, feed, network, strategy, problem) AS
  SELECT policy_id, feed, network, strategy, 'there is no such strategy'::text COLLATE "C" FROM policy
    WHERE strategy NOT IN (SELECT name FROM strategy)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy,
    ('the parameter ' || given.key || ' is unknown, or no whole number in its range') COLLATE "C"
    FROM policy, json_each(parameters::json) AS given
    WHERE policy.strategy IN (SELECT name FROM strategy)
      AND NOT EXISTS (SELECT 1 FROM strategy_parameter AS known
      WHERE known.strategy = policy.strategy AND known.name = given.key
        AND CASE WHEN given.value::text ~ '^-?[0-9]{1,18}$'
          THEN given.value::text::bigint BETWEEN known.least AND known.most ELSE false END)
  UNION ALL
  SELECT policy_id, feed, network, policy.strategy,
    ('the parameter ' || given.key || ' is there twice') COLLATE "C"
    FROM policy, json_each(parameters::json) AS given
    GROUP BY policy_id, feed, network, policy.strategy, given.key HAVING count(*) > 1;
