"""What a session pays for knowing the agents: its first call, and its memory."""
import re
import time

from measure import interleave, millis
from pace import connect
from registry import team_database

MANY, FEW = 10000, 50
ROUTE = "SELECT clutch.route(%s)"
REQUEST = """{"v": "clutch/0.1", "id": "msg_roster", "ts": "2026-02-01T13:20:11Z", "run_id": "run_roster",
    "thread_id": "thr_roster", "task_id": "task_roster", "type": "task.request",
    "from": {"agent_id": "agent:client"}, "to": [{"agent_id": "agent:orchestrator"}],
    "requires": ["skill:s1"], "payload": {}}"""
CONTEXTS = "SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts"


def resident_bytes(connection):
    """Bytes of memory that the process has written to, without shared memory."""
    with open("/proc/%d/status" % connection.get_backend_pid()) as f:
        return int(re.search(r"^RssAnon:\s+(\d+) kB", f.read(), re.M).group(1)) * 1024


def one(cursor, query):
    cursor.execute(query)
    return cursor.fetchone()[0]


def first_call(agents):
    """
    A new session: (milliseconds of its first choice, of its second, bytes of its memory
    contexts and of its process that the first choice has added).
    """
    connection = connect("SELECT clutch.version()", team_database(agents))
    cursor = connection.cursor()
    one(cursor, CONTEXTS)
    memory, resident = one(cursor, CONTEXTS), resident_bytes(connection)
    times = []
    for _ in range(2):
        began = time.monotonic()
        cursor.execute(ROUTE, (REQUEST,))
        times.append((time.monotonic() - began) * 1000)
    added = one(cursor, CONTEXTS) - memory, resident_bytes(connection) - resident
    connection.close()
    return times + list(added)


def megabytes(values):
    return "%.1f MB" % (sorted(values)[len(values) // 2] / 1024 / 1024)


def measure_roster(table):
    table.head("What a session pays for knowing {:,} agents (reference: {} agents)".format(MANY, FEW))
    table.columns("%d agents" % FEW)
    runs = interleave({agents: lambda agents=agents: first_call(agents) for agents in (FEW, MANY)}, rounds=9)
    many, few = (list(zip(*runs[agents])) for agents in (MANY, FEW))
    table.limit("first call of a session", many[0], 25, millis, millis(few[0]))
    table.limit("  the second call", many[1], None, millis, millis(few[1]))
    table.limit("memory that the first call adds beyond that with %d" % FEW,
                [a - b for a, b in zip(many[2], few[2])], 4 * 1024 * 1024, megabytes)
    table.limit("  memory contexts, all that it adds", many[2], None, megabytes, megabytes(few[2]))
    table.limit("  anonymous memory of the process", many[3], None, megabytes, megabytes(few[3]))
