-- ---------------------------------------------------------------- comments
-- What the tables are for, as \dt+ in psql shows it.  "State" is written only by the
-- extension itself; docs/architecture.md says what of it can be derived from the log.
COMMENT ON TYPE clutch.receipt IS 'what the database returns for an event that was sent: the event that is in the log now';
COMMENT ON SEQUENCE clutch.event_seq IS 'the places in the log';
COMMENT ON SEQUENCE clutch.queue_no IS 'the order in which tasks became ready or began to wait';
COMMENT ON SEQUENCE clutch.last_tick IS 'about when clutch.tick() was last called, in seconds since 1970';
COMMENT ON SEQUENCE clutch.copy_begun IS 'has a value as soon as something has been written in this copy of the database; not dumped';

COMMENT ON TABLE clutch.agent_registry IS 'state: the registered agents with their cards; clutch.agents shows more';
COMMENT ON TABLE clutch.agent_heartbeat IS 'state: when each agent was last heard of; not derived from the log';
COMMENT ON TABLE clutch.agent_slot IS 'state: how many tasks each agent has at once, a row for each slot that was needed so far';
COMMENT ON TABLE clutch.agent_failure IS 'state: the consecutive failures of agents, and their successes while the circuit breaker is half open';
COMMENT ON TABLE clutch.group_member IS 'state: the groups that agents have joined by clutch.join_group; those of a card are in the card';
COMMENT ON TABLE clutch.pause IS 'state: agents and capabilities that get no new work until clutch.resume is called';
COMMENT ON TABLE clutch.retry_policy IS 'how often and when tasks of a payload type are tried again; written by clutch.set_retry_policy';

COMMENT ON TABLE clutch.task IS 'state: every task that was requested; clutch.tasks shows the columns that are meant for users';
COMMENT ON TABLE clutch.ready IS 'state: the tasks that can be claimed, in the order of claims';
COMMENT ON TABLE clutch.waiting IS 'state: the pending tasks that wait for an agent, by what they require';
COMMENT ON TABLE clutch.dependency IS 'state: which tasks wait until which others are over (meta.clutch.after)';
COMMENT ON TABLE clutch.question IS 'state: the questions of tasks that have not been answered yet';
COMMENT ON TABLE clutch.step IS 'state: the steps whose output is kept; the output is in the event';
COMMENT ON TABLE clutch.suspended IS 'state: the suspended tasks';
COMMENT ON TABLE clutch.awaited IS 'state: the suspended tasks that wait for a message of their run';
COMMENT ON TABLE clutch.timer IS 'state: when a lease or a deadline of a task ends, or a time comes that it waits for';
COMMENT ON TABLE clutch.expiry IS 'state: messages to which nobody has replied, and when it is too late';
COMMENT ON TABLE clutch.consequence IS 'state: what transactions have caused for tasks that others had locked; handled by the next tick, claim or report';
COMMENT ON TABLE clutch.run_scope IS 'state: the owners of runs whose first request names a scope';
COMMENT ON TABLE clutch.run_visibility IS 'state: the visibility of runs whose first request names one';
COMMENT ON TABLE clutch.participant IS 'state: the agents and groups that take part in a run because they were addressed, without having sent an event of it';

COMMENT ON TABLE clutch.budget IS 'state: the limits of runs that have a budget';
COMMENT ON TABLE clutch.spending IS 'state: the reported tokens and cost, by run, agent and day; some rows may have to be added up';
COMMENT ON TABLE clutch.spending_total IS 'the spending of runs that have been pruned, which the log no longer has';

COMMENT ON TABLE clutch.principal IS 'which role speaks for which agent, and what the cards that it registers may say; written by clutch.grant_agent';
COMMENT ON TABLE clutch.privilege IS 'the operators, readers and gateways; clutch.privileges shows what each role has';
COMMENT ON TABLE clutch.agent_key IS 'the public keys of agents; a key is revoked and never removed';
COMMENT ON TABLE clutch.quota IS 'how much a role may have open or send; written by clutch.set_quota';
COMMENT ON TABLE clutch.quota_refusal IS 'how often the quotas of each kind have refused something';
COMMENT ON TABLE clutch.open_work IS 'state: the open requests and steps of roles that have a quota on them';
COMMENT ON TABLE clutch.traffic IS 'state: the events and bytes that roles with a quota on them have sent, by minute';
COMMENT ON TABLE clutch.secret IS 'the random number from which the IDs of this database are derived; only the owner can read it, and it never changes';

COMMENT ON TABLE clutch.workflow IS 'the definitions of workflows; written by clutch.register_workflow';
COMMENT ON TABLE clutch.run_workflow IS 'state: the workflow that a run is bound to';
COMMENT ON TABLE clutch.workflow_task IS 'state: which step of its workflow a task does, and whether its result meets the contract';
COMMENT ON TABLE clutch.schedule IS 'the schedules of all roles; written by clutch.schedule';
COMMENT ON TABLE clutch.subscription IS 'the subscriptions of all roles; written by clutch.subscribe';
COMMENT ON TABLE clutch.subscription_position IS 'how far each member of a subscription has read; the newest generation counts';

COMMENT ON TABLE clutch.artifact IS 'the artifacts, by the digest of their content';
COMMENT ON TABLE clutch.artifact_chunk IS 'the content of artifacts, in chunks of at most a megabyte';
COMMENT ON TABLE clutch.artifact_upload IS 'uploads in parts that are not finished yet';
COMMENT ON TABLE clutch.artifact_owner IS 'the roles that have uploaded an artifact';
COMMENT ON TABLE clutch.artifact_use IS 'the events that attach an artifact';

COMMENT ON TABLE clutch.endpoint IS 'where calls to other systems go; operators insert, update and delete rows';
COMMENT ON TABLE clutch.endpoint_secret IS 'the secrets of endpoints; only the owner can read them; written by clutch.set_endpoint_secret';
COMMENT ON TABLE clutch.outbox IS 'the calls to other systems, until some time after they were sent; claimed by clutch.outbox_claim';

COMMENT ON TABLE clutch.checkpoint IS 'the heads of the Merkle tree over the log, and which events each has added; clutch.checkpoints shows them';
COMMENT ON TABLE clutch.checkpoint_signature IS 'signatures on these heads, made outside the database';
COMMENT ON TABLE clutch.tree_hash IS 'hashes of the leaves and of complete subtrees of the Merkle tree';
COMMENT ON TABLE clutch.epoch IS 'the copies of this database: a restored one begins a new epoch, a promoted one a new timeline';
COMMENT ON TABLE clutch.event_count IS 'counters for clutch.metrics(); those of rare names are added to each other';
COMMENT ON TABLE clutch.event_count_place IS 'how far these events have been counted';
