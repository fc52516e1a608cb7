"""clutch.ingest of documents of other protocols, beside clutch.send of the envelopes that they become.

Each document has about 1.3 kB and the members that its dialect usually has.  Both
contenders read a text from a table and turn it into a jsonb.  Documents and envelopes
have identifiers of their own, so that nothing is a duplicate.
"""
import json
import time

import psycopg2

from measure import ROUNDS, Ratio, interleave, micros, note, template_database

BYTES = 1300
BATCH = 100
BAR = 1.8

PAYLOAD = {
    "title": "Market analysis complete",
    "findings": ["The market for payment terminals grew by 12 percent over the last year.",
                 "Three vendors hold 64 percent of it; the largest lost ground twice in a row."],
    "citations": ["https://example.org/reports/2026/market-overview"],
    "region": {"name": "northern Europe", "countries": 8}, "confidence": 0.87, "pages": 42, "draft": False}
WORDS = "Regulation in two regions changes in the third quarter, with a year to comply. "
TIME = "2026-02-01T13:20:11.123Z"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

# "~id~" stands for an identifier, and "~text~" for words that fill the document.
DOCUMENTS = {
    "http": {
        "specversion": "1.0", "id": "~id~", "source": "https://research.example/agents", "type": "research.summary.v1", "time": TIME,
        "subject": "task-~id~", "datacontenttype": "application/json", "dataschema": "schema://clutch/research/summary@1",
        "traceparent": TRACE, "region": "eu", "sequence": 12, "data": dict(PAYLOAD, text="~text~")},
    "mcp": {
        "jsonrpc": "2.0", "id": "~id~", "method": "tools/call", "params": {
            "name": "publish_summary", "arguments": dict(PAYLOAD, text="~text~"),
            "_meta": {"progressToken": "p-~id~", "traceparent": TRACE}}},
    "a2a": {
        "jsonrpc": "2.0", "id": "rpc-~id~", "result": {"message": {
            "messageId": "~id~", "contextId": "ctx-~id~", "role": "ROLE_AGENT", "parts": [{"text": "~text~"}, {"data": PAYLOAD}],
            "metadata": {"clutch/domain": "research", "clutch/payload_type": "research.summary.v1", "traceparent": TRACE, "tier": "gold"}}}},
    "langgraph": {
        "type": "ai", "id": "run-~id~", "content": "~text~", "name": "researcher", "additional_kwargs": {"refusal": None},
        "response_metadata": dict(PAYLOAD, finish_reason="stop", model_name="model-4", service_tier="default", logprobs=None),
        "tool_calls": [], "invalid_tool_calls": [],
        "usage_metadata": {"input_tokens": 812, "output_tokens": 164, "total_tokens": 976,
                           "input_token_details": {"cache_read": 512}, "output_token_details": {"reasoning": 0}}},
    "autogen": {
        "id": "~id~", "source": "researcher", "models_usage": {"prompt_tokens": 812, "completion_tokens": 164},
        "metadata": {"topic": "prices", "channel": "research"}, "created_at": TIME, "content": dict(PAYLOAD, text="~text~"),
        "type": "StructuredMessage[Summary]"},
    "crewai": {
        "timestamp": "2026-02-01T10:20:30.218694Z", "type": "tool_usage_started", "source_fingerprint": "f-~id~", "source_type": "agent",
        "fingerprint_metadata": None, "task_id": None, "task_name": "publish", "agent_id": "a-7", "agent_role": "researcher",
        "event_id": "~id~", "parent_event_id": "e-1", "previous_event_id": "e-1", "triggered_by_event_id": None, "started_event_id": None,
        "emission_sequence": 2, "tool_name": "publish_summary", "tool_args": dict(PAYLOAD, text="~text~"), "tool_class": "Publish",
        "run_attempts": 0, "delegations": 0},
    "multiagent": {
        "protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "gpt5.plan", "name": "Planner", "model": "gpt-5", "version": "2025-10"},
        "timestamp": TIME, "intent": "plan", "task": "Publish the summary",
        "inputs": {"context": "a shop", "resources": [{"type": "db", "id": "goods", "hint": "readonly"}], "parameters": {"temperature": 0.2}},
        "content": {"type": "json", "text": "~text~", "data": PAYLOAD},
        "outputs": {"artifacts": [{"kind": "report", "name": "summary", "uri": "https://example.org/reports/7"}]},
        "confidence": {"score": 0.78, "rationale": "clear"}, "trace": {"id": "~id~", "tags": ["prices"]}},
    "collab": {
        "header": {"messageId": "~id~", "correlationId": "conv-~id~", "type": "PUBLISH", "source": "analyzer", "destination": "topic:findings",
                   "timestamp": TIME, "priority": 1, "ttl": 600000000000},
        "body": {"event": "NewSummary", "data": dict(PAYLOAD, text="~text~"), "context": {"sessionId": "s-~id~"}},
        "trace": {"traceId": "tr-1", "spanId": "sp-2"}},
    "map": {
        "id": "~id~", "from": "planner", "to": {"agent": "ken"}, "timestamp": 1795209727322, "payload": dict(PAYLOAD, text="~text~"),
        "meta": {"timestamp": 1795209727322, "relationship": "peer", "correlationId": "c-~id~", "priority": "high",
                 "delivery": "acknowledged", "protocol": "acp"}},
    "agent_json": {
        "name": "researcher-~id~", "version": "1.2.0", "description": "~text~",
        "capabilities": [{"name": "research", "description": "Searches and summarizes", "input": {"type": "object", "required": ["topic"],
                                                                                             "properties": {"topic": {"type": "string"}}}}],
        "metadata": PAYLOAD},
}


def template(adapter):
    """The text of a document of BYTES, in which ~id~ stands for an identifier of 12 letters."""
    bare = json.dumps(DOCUMENTS[adapter], separators=(",", ":"))
    missing = BYTES - len(bare.replace("~text~", "")) - 8 * bare.count("~id~")
    return bare.replace("~text~", (WORDS * 20)[:missing])


def setup(adapter, rows):
    """Numbered rows of both kinds: the texts of documents, and of the envelopes that other documents become."""
    return """
CREATE EXTENSION clutch;
CREATE TABLE asked (kind text, no integer, body text, PRIMARY KEY (kind, no));
ALTER TABLE asked ALTER body SET STORAGE PLAIN;
INSERT INTO asked SELECT 'ingest', n, replace($doc$%s$doc$, '~id~', 'd-' || 1000000000 + n) FROM generate_series(1, %d) n;
INSERT INTO asked SELECT 'send', n, (SELECT max(e::text) FROM clutch.inbound(replace($doc$%s$doc$, '~id~', 's-' || 1000000000 + n)::jsonb) e
	HAVING count(*) = 1) FROM generate_series(1, %d) n;
""" % (template(adapter), rows, template(adapter), rows)


def batch(kind, first):
    """A statement that takes BATCH rows, beginning with a number that may be an expression."""
    return ("SELECT count(r.seq) FROM asked a, LATERAL clutch.%s(a.body::jsonb) r WHERE a.kind = '%s' AND a.no BETWEEN %s AND %s + %d;\n"
            % (kind, kind, first, first, BATCH - 1))


# ------------------------------------------------------------------ measuring

class Session:
    """One session, and how many rows of each kind it has used."""

    def __init__(self, database):
        self.connection = psycopg2.connect(dbname=database)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.used = {"ingest": 0, "send": 0}
        self.cursor.execute("SET clutch.notify = off")

    def next(self, kind):
        self.used[kind] += BATCH
        return self.used[kind] - BATCH + 1

    def cpu(self):
        """Nanoseconds for which the backend has had a processor."""
        with open("/proc/%d/schedstat" % self.connection.get_backend_pid()) as f:
            return int(f.read().split()[0])

    def batched(self, kind):
        """Microseconds of CPU for each row of a batch, in one statement and without waiting for the disk."""
        statement = batch(kind, self.next(kind))
        self.cursor.execute("SET synchronous_commit = off")
        before = self.cpu()
        self.cursor.execute(statement)
        taken = self.cpu() - before
        if self.cursor.fetchone() != (BATCH,):
            raise RuntimeError("not each of %s makes one event" % kind)
        return taken / 1e3 / BATCH

    def single(self, kind):
        """Microseconds of a single call as a gateway makes it: it sends the text, and the commit is durable."""
        self.cursor.execute("SELECT body FROM asked WHERE kind = %s AND no >= %s ORDER BY no LIMIT %s", (kind, self.next(kind), BATCH))
        bodies = self.cursor.fetchall()
        self.cursor.execute("SET synchronous_commit = on")
        began = time.monotonic()
        for body in bodies:
            self.cursor.execute("EXECUTE one_%s (%%s)" % kind, body)
        return (time.monotonic() - began) * 1e6 / BATCH

    def prepare(self):
        for kind in self.used:
            self.cursor.execute("PREPARE one_%s (jsonb) AS SELECT seq FROM clutch.%s($1)" % (kind, kind))
            self.batched(kind)


def measure_adapter(table, adapter):
    name = "clutch_bench_adapter"
    rounds = 3 * ROUNDS
    note(adapter)
    template_database(name, setup(adapter, BATCH * (rounds + ROUNDS + 1)))
    session = Session(name)
    session.prepare()
    batches = interleave({kind: lambda kind=kind: session.batched(kind) for kind in ("ingest", "send")}, rounds=rounds)
    singles = interleave({kind: lambda kind=kind: session.single(kind) for kind in ("ingest", "send")}, rounds=ROUNDS)
    session.connection.close()
    table.row("%s, batches of %d, CPU" % (adapter, BATCH), micros(batches["ingest"]), micros(batches["send"]),
              Ratio(batches["ingest"], batches["send"]), at_most=BAR)
    table.row("  one by one, sync on", micros(singles["ingest"]), micros(singles["send"]), Ratio(singles["ingest"], singles["send"]))


def measure_adapters(table):
    table.head("Documents of 1.3 kB through an adapter (reference: clutch.send of the envelopes that they make)")
    table.columns("clutch.send")
    for adapter in DOCUMENTS:
        measure_adapter(table, adapter)
