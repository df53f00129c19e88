-- A parameter that a policy leaves out has its usual value, which the program knows: that is no problem any more.
DROP VIEW policy_problem;

CREATE VIEW policy_problem (policy_id, feed, network, strategy, problem) AS
  SELECT policy_id, feed, network, strategy, 'there is no such strategy' FROM policy
    WHERE strategy NOT IN (SELECT name FROM strategy)
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
