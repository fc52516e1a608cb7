/*-------------------------------------------------------------------------
 *
 * world.c
 *	  What the translation of a document needs to know about this database.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/visible.h"
#include "api/world.h"
#include "base/clock.h"
#include "base/hash64.h"
#include "miscadmin.h"
#include "protocol/identifier.h"
#include "protocol/problem.h"
#include "settings.h"
#include "store/event.h"
#include "trust/principal.h"
#include "trust/secret.h"
#include "utils/hsearch.h"

/*
 * The most events of one ID or one thread that are looked at.  Anybody may use
 * an ID again in another run, and a thread may have many events that the role
 * may not see; neither must cost others anything.
 */
#define MOST_LOOKED_AT	16

/* the call that is running, or NULL if none */
static WorldCall *world_call = NULL;

/* the envelopes with one hash that the call has made */
typedef struct MadeEnvelope
{
	uint64		hash;			/* of ID and run */
	List	   *ids;			/* alternately the ID and the run of each
								 * (Slice *) */
} MadeEnvelope;

static uint64
world_hash(Slice id, Slice run_id)
{
	return slice_hash(id) ^ (slice_hash(run_id) * UINT64CONST(0x9E3779B97F4A7C15));
}

void
world_begin(WorldCall *call)
{
	*call = (WorldCall) {.context = CurrentMemoryContext, .outer = world_call};
	world_call = call;
}

void
world_end(const WorldCall *call)
{
	world_call = call->outer;
}

void
world_note_made(const Json *envelope)
{
	MemoryContext old = MemoryContextSwitchTo(world_call->context);
	Slice		id = json_get_text(envelope, "/id");
	Slice		run_id = json_get_text(envelope, "/run_id");
	uint64		hash = world_hash(id, run_id);
	MadeEnvelope *made;
	bool		found;

	if (world_call->made == NULL)
		world_call->made = hash64_create("clutch envelopes of a call", sizeof(MadeEnvelope), 64, world_call->context);
	made = hash_search(world_call->made, &hash, HASH_ENTER, &found);
	if (!found)
		made->ids = NIL;
	made->ids = slice_list_add(slice_list_add(made->ids, id), run_id);
	MemoryContextSwitchTo(old);
}

static bool
world_was_made(Slice id, Slice run_id)
{
	uint64		hash = world_hash(id, run_id);
	MadeEnvelope *made = NULL;

	if (world_call != NULL && world_call->made != NULL)
		made = hash_search(world_call->made, &hash, HASH_FIND, NULL);
	for (int i = 0; made != NULL && i < list_length(made->ids); i += 2)
		if (slice_equal(*(Slice *) list_nth(made->ids, i), id) &&
			slice_equal(*(Slice *) list_nth(made->ids, i + 1), run_id))
			return true;
	return false;
}

/* ------------------------------------------------ the functions of a world */

static Slice
world_default_agent(void)
{
	SliceList	agents;

	if (principal_is_operator(principal_role()))
		return slice_of_cstring(clutch_orchestrator);
	agents = principal_agents();
	if (agents.n != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("context", "NOT_YOUR_AGENT"),
				 errmsg(agents.n == 0 ? "role \"%s\" speaks for no agent" : "role \"%s\" speaks for several agents",
						GetUserNameFromId(principal_role(), false)),
				 errhint(agents.n == 0 ? PRINCIPAL_HINT_GRANT :
						 "Name the sender in the context: {\"agent_id\": \"agent:...\"}.")));
	return agents.items[0];
}

/* Returns the seq of the event, or 0 if it is not in the log. */
static int64
world_find_event(Slice id, Slice run_id)
{
	RowScan		scan;
	int64		seq = 0;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_PKEY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
		seq = rows_int8(&scan, Anum_event_seq);
	rows_end(&scan);
	return seq;
}

static bool
world_was_sent(Slice id, Slice run_id)
{
	return world_was_made(id, run_id) || world_find_event(id, run_id) != 0;
}

static bool
world_may_see(Slice id, Slice run_id)
{
	int64		seq = id.len <= clutch_limits.max_id_bytes ? world_find_event(id, run_id) : 0;

	return seq != 0 && visible_event(seq);
}

static bool
world_find_task(Slice task_id, Slice *run_id, Slice *thread_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	if (task == NULL || !visible_task(task))
		return false;
	*run_id = task->run_id;
	*thread_id = task->thread_id;
	return true;
}

/* An ID that too many events have is not looked up. */
static Slice
world_find_requested_task(Slice id)
{
	RowScan		scan;
	Slice		task_id = SLICE_NONE;
	int			looked_at = 0;
	int			n = 0;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_PKEY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	rows_start(&scan);
	while (n < 2 && rows_next(&scan))
		if (++looked_at > MOST_LOOKED_AT)
			n = 2;
		else if (slice_is(rows_text(&scan, Anum_event_type), "task.request") &&
				 visible_event(rows_int8(&scan, Anum_event_seq)) && n++ == 0)
			task_id = rows_text_copy(&scan, Anum_event_task_id);
	rows_end(&scan);
	return n == 1 ? task_id : SLICE_NONE;
}

static bool
world_knows_thread(Slice thread_id)
{
	RowScan		scan;
	bool		found = false;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_THREAD_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, thread_id);
	rows_start(&scan);
	for (int i = 0; i < MOST_LOOKED_AT && !found && rows_next(&scan); i++)
		found = visible_event(rows_int8(&scan, Anum_event_seq));
	rows_end(&scan);
	return found;
}

static Slice
world_find_requester(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	return task != NULL && visible_task(task) ? task->from_agent : SLICE_NONE;
}

/*
 * Returns the realm.  Within a realm, the same document gets the same IDs.
 * All callers whose context names the same agent share a realm.  Without such
 * a context, all operators share one, and any other role has its own.
 */
static Slice
world_realm(const Json *context)
{
	Slice		agent = json_get_text(context, "/agent_id");
	const char *rule;

	if (slice_present(agent))
	{
		/* the translation refuses what is no ID of an agent, which nobody speaks for */
		if (identifier_fault(ID_AGENT, agent, &rule) == NULL)
			principal_require(agent, "context");
		return slice_of_cstring(psprintf("agent %.*s", agent.len, agent.s));
	}
	if (principal_is_operator(principal_role()))
		return SLICE_OF("operators");
	return slice_of_cstring(psprintf("role %s", GetUserNameFromId(principal_role(), false)));
}

TranslationWorld
world_get(const Json *context)
{
	TranslationWorld world = {
		.now = clock_now(),
		.secret = secret_get(),
		.realm = world_realm(context),
		.default_agent = world_default_agent,
		.was_sent = world_was_sent,
		.may_see = world_may_see,
		.find_requester = world_find_requester,
		.find_task = world_find_task,
		.find_requested_task = world_find_requested_task,
		.knows_thread = world_knows_thread
	};

	return world;
}

