"""Choosing one of 50, 1,000, 10,000 agents, inside the server.

A request requires one skill and prefers two things.  clutch.route returns the
whole decision: 20 candidates with their scores, which agents were rejected and
why.  The reference returns only the best agent or, in a row without a bar, the
best 20 with their scores.  Each is called in a loop in one statement, and every
call is timed; before that, both must choose the same agent for every request.
"""
from measure import Ratio, fresh_database, interleave, micros, sql
from registry import RANKED, SCORE, SIZES, SKILLS, TAGS, TOOLS, team_database

BARS = {50: 0.25, 1000: 0.18, 10000: 0.05}
SECONDS = 0.3

CALLS = """
CREATE TABLE asked AS
SELECT no, 'skill:s' || no %% %d AS skill, 'v' || no %% %d AS tag, 'tool:t' || no %% %d AS tool
FROM generate_series(0, 99) no;
ALTER TABLE asked ADD envelope jsonb;
UPDATE asked SET envelope = clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    payload => '{{"goal": "bench"}}', requires => ARRAY[skill], prefers => ARRAY[tool, 'tag:' || tag]);

CREATE FUNCTION best(asked) RETURNS text LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT a.agent_id {by_row} LIMIT 1; END;

CREATE FUNCTION time_clutch(seconds float8) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
    envelopes jsonb[] := ARRAY(SELECT envelope FROM asked ORDER BY no);
    times float8[] := '{{}}';
    decision jsonb;
    one jsonb;
    began timestamptz;
    until timestamptz := clock_timestamp() + seconds * interval '1 s';
BEGIN
    WHILE clock_timestamp() < until OR coalesce(array_length(times, 1), 0) < 300 LOOP
        FOREACH one IN ARRAY envelopes LOOP
            began := clock_timestamp();
            decision := clutch.route(one);
            times := times || extract(epoch FROM clock_timestamp() - began)::float8 * 1e6;
        END LOOP;
    END LOOP;
    RETURN times;
END $$;

"""

# The reference: the function {name} measures the time of {choice}.
ARRAYS = """
CREATE FUNCTION {name}(seconds float8) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
    requests asked[] := ARRAY(SELECT asked FROM asked ORDER BY no);
    times float8[] := '{{}}';
    choice text;
    one asked;
    began timestamptz;
    until timestamptz := clock_timestamp() + seconds * interval '1 s';
BEGIN
    WHILE clock_timestamp() < until OR coalesce(array_length(times, 1), 0) < 300 LOOP
        FOREACH one IN ARRAY requests LOOP
            began := clock_timestamp();
            {choice};
            times := times || extract(epoch FROM clock_timestamp() - began)::float8 * 1e6;
        END LOOP;
    END LOOP;
    RETURN times;
END $$;
"""

DIFFERENT = """
SELECT count(*) FROM asked WHERE clutch.route(envelope) ->> 'selected' IS DISTINCT FROM best(asked);
"""


def functions():
    names = dict({name: "one." + name for name in ("skill", "tool", "tag")}, team="team")
    loop, score = RANKED.format(**names), SCORE.format(**names)
    row = RANKED.format(team="team", skill="($1).skill", tool="($1).tool", tag="($1).tag")
    return ((CALLS % (SKILLS, TAGS, TOOLS)).format(by_row=row) +
            ARRAYS.format(name="time_arrays", choice="SELECT a.agent_id INTO choice %s LIMIT 1" % loop) +
            ARRAYS.format(name="time_scores", choice="SELECT jsonb_agg(best) INTO choice FROM "
                          "(SELECT a.agent_id, %s AS score %s LIMIT 20) best" % (score, loop)))


def calls(function):
    """p50 and mean of one loop, without its first 100 calls, which fill caches and make plans."""
    answer = sql("WITH t AS (SELECT us FROM unnest(%s(%s)) WITH ORDINALITY AS u(us, n) WHERE n > 100) "
                 "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY us), avg(us) FROM t"
                 % (function, SECONDS))
    return [float(x) for x in answer.split("|")]


def measure_choice(table):
    table.head("Choice in the server: 1 skill that 7.5 % have, 2 preferences (reference: SQL arrays + GIN)")
    table.columns()
    for size in SIZES:
        fresh_database(team_database(size))
        sql(functions() + "VACUUM ANALYZE asked;")
        different = int(sql(DIFFERENT))
        if different:
            raise RuntimeError("%d of 100 choices among %d agents differ" % (different, size))
        runs = interleave({"arrays": lambda: calls("time_arrays"),
                           "clutch": lambda: calls("time_clutch"),
                           "scores": lambda: calls("time_scores")})
        ours, arrays, scores = (list(zip(*runs[name])) for name in ("clutch", "arrays", "scores"))
        table.row("{:,} agents, p50".format(size), micros(ours[0]), micros(arrays[0]),
                  Ratio(ours[0], arrays[0]), at_most=BARS[size])
        table.row("  mean", micros(ours[1]), micros(arrays[1]), Ratio(ours[1], arrays[1]))
        table.row("  p50, reference with 20 scores as jsonb", "", micros(scores[0]),
                  Ratio(ours[0], scores[0]))
