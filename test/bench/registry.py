"""A team of agents, in the registry and, for the references, as arrays in a table.

7.5 % of the agents have a given skill, a ninth a given tool, a fifth a given
tag; a third of the agents have a task, some have two.  No limit is ever reached.
"""
from measure import template_database
from reference import LOGS

SKILLS, TAGS, TOOLS = 13, 5, 9
SIZES = (50, 1000, 10000)

REGISTER = """
CREATE EXTENSION clutch;
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'agent.register', from_agent => agent_id,
    run_id => 'run:agents', thread_id => 'thread:agents', payload => jsonb_build_object(
        'v', 'clutch/0.1', 'agent_id', agent_id,
        'display', jsonb_build_object('name', 'Worker', 'desc', 'one of many'),
        'capabilities', jsonb_build_array(
            jsonb_build_object('id', 'skill:s' || abs(hashint4(i)::bigint) %% 40 / 3, 'version', '1.2.0',
                'tags', jsonb_build_array('v' || i %% 5, 'w' || i %% 7),
                'cost_hint', (ARRAY['low', 'medium', 'high'])[1 + i %% 3]),
            jsonb_build_object('id', 'tool:t' || abs(hashint4(i + 1000000)::bigint) %% 9)),
        'limits', jsonb_build_object('max_concurrency', 1000000, 'max_runtime_sec', 600, 'heartbeat_sec', 0),
        'security', jsonb_build_object('sandbox', true, 'network', 'none')))
FROM (SELECT i, 'agent:' || lpad(i::text, 5, '0') AS agent_id FROM generate_series(1, %d) i) agent;

INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    to_agents => ARRAY['agent:' || lpad(i::text, 5, '0')], payload => '{"goal": "load"}',
    run_id => 'run_load', thread_id => 'thr_load')
FROM generate_series(1, %d) i, generate_series(1, 2) n WHERE i %% (n * 3) = 0;
"""

# The obvious SQL: capabilities and tags as arrays, with a GIN index on what is required.
ARRAYS = """
CREATE TABLE team (
    agent_id text COLLATE "C" PRIMARY KEY,
    status text NOT NULL,
    sandbox boolean NOT NULL,
    capabilities text[] NOT NULL,
    tags text[] NOT NULL,
    running int NOT NULL,
    max_concurrency int NOT NULL,
    success_rate float8 NOT NULL,
    cost int NOT NULL,
    last_chosen bigint NOT NULL);
INSERT INTO team
SELECT a.agent_id, a.status, true, a.capabilities,
    ARRAY(SELECT jsonb_array_elements_text(a.card #> '{capabilities,0,tags}')),
    a.running, a.max_concurrency, a.success_rate,
    array_position('{low,medium,high}', a.card #>> '{capabilities,0,cost_hint}'),
    coalesce((SELECT max(s.chosen_seq) FROM clutch.agent_slot s WHERE s.agent_id = a.agent_id), 0)
FROM clutch.agents a;
CREATE INDEX ON team USING gin (capabilities);
"""

# What the fair client keeps besides the log: its own copy of the team, whose load
# it counts (with room for HOT updates), the tasks, and what can be claimed.
FAIR_CLIENT = """
CREATE TABLE fair_team (LIKE team INCLUDING ALL) WITH (fillfactor = 50);
INSERT INTO fair_team SELECT * FROM team;
CREATE TABLE fair_task (
    task_id text COLLATE "C" PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    attempt int NOT NULL,
    request_seq bigint NOT NULL,
    created_at timestamptz NOT NULL);
CREATE INDEX ON fair_task (run_id);
CREATE TABLE fair_ready (
    agent_id text COLLATE "C" NOT NULL,
    urgency smallint NOT NULL,
    queue_no bigserial,
    task_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent_id, urgency, queue_no));
"""

# The eligible agents, best first: the filters and tie-breaks of clutch over these columns.
RANKED = """
    FROM {team} a
    WHERE a.capabilities @> ARRAY[{skill}] AND a.status IN ('READY', 'BUSY') AND a.sandbox
      AND a.running < a.max_concurrency
    ORDER BY ({tool} = ANY (a.capabilities))::int + ({tag} = ANY (a.tags))::int DESC,
        a.running::float8 / a.max_concurrency, a.success_rate DESC, a.cost, a.last_chosen, a.agent_id
"""
SCORE = "(({tool} = ANY (a.capabilities))::int + ({tag} = ANY (a.tags))::int) / 2.0"


def team_database(size):
    """Returns the name of a template with so many agents, and makes it when first called."""
    name = "clutch_bench_team_%d" % size
    if name not in made:
        template_database(name, REGISTER % (size, size) + ARRAYS + LOGS + FAIR_CLIENT)
        made.add(name)
    return name


made = set()
