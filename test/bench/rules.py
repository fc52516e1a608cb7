"""Routing rules that no request of the measurements fits, half of them by words and half by paths."""


def idle_rules(n):
    return """INSERT INTO clutch.routing_rule (name, words, prefers)
SELECT 'rule ' || n, ARRAY['what should i do about ' || md5(n::text), 'signal' || n, md5(n::text) || ' and more'], '{skill:s1}'
FROM generate_series(1, %d) AS n;
INSERT INTO clutch.routing_rule (name, path, prefers)
SELECT 'kind ' || n, format('$.payload.kind == "kind%%s"', n), '{skill:s1}' FROM generate_series(1, %d) AS n;
""" % (n // 2, n // 2)
