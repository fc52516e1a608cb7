/*-------------------------------------------------------------------------
 *
 * liveness.c
 *	  Agents that fall silent, and the work that they leave behind.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "flow/assign.h"
#include "flow/claim.h"
#include "flow/liveness.h"
#include "miscadmin.h"
#include "registry/agent.h"
#include "registry/breaker.h"
#include "registry/heartbeat.h"
#include "registry/slot.h"
#include "task/task.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* so many heartbeats are missed before an agent is lost */
#define MISSED_BEATS	3

/* at the latest after so long everybody is looked at again */
#define LOOK_AGAIN		(30 * USECS_PER_SEC)

/* how many waiting tasks an agent that is back, or new, is given at once */
#define RETURN_SHARE	100

/* --------------------------------------------------------- what it held */

/* leaves alone what somebody else is changing; false: something was left */
static bool
give_up_tasks(Slice agent_id, const char *reason)
{
	bool		all = true;
	List	   *ids = slot_list_tasks(agent_id);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch task given up",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	ListCell   *cell;

	foreach(cell, ids)
	{
		Task	   *task = task_lock_to_end(*(Slice *) lfirst(cell), false);

		CHECK_FOR_INTERRUPTS();
		if (task == NULL)
			all = false;
		else if (!slice_equal(task->agent_id, agent_id))
			continue;
		else if (task->status == TASK_RUNNING)
			claim_expire(task);
		else if (task->status == TASK_ASSIGNED)
			claim_take_away(task, slice_of_cstring(reason));
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return all;
}

/* --------------------------------------------------------- signs of life */

static bool
is_unavailable(Slice agent_id)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, agent_id);

	return ordinal >= 0 && roster_agent(roster, ordinal)->status == AGENT_UNAVAILABLE;
}

/* the worker shall look when its silence can be long enough */
static void
watch_from_now(int heartbeat_sec)
{
	int64		interval = heartbeat_interval(heartbeat_sec);

	if (interval > 0)
		notify_due(clock_now() + MISSED_BEATS * interval);
}

static void
watch_registered(Slice agent_id)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, agent_id);

	if (ordinal >= 0)
		watch_from_now(roster_agent(roster, ordinal)->card.heartbeat_sec);
}

static void
take_back(Slice agent_id, bool claims)
{
	AgentStatus status;

	/* who says of itself that it is unavailable will say when it is not */
	if (!agent_is_lost(agent_id) || (!claims && breaker_times_out(agent_id)))
		return;
	if (agent_try_lock(agent_id, &status) && status == AGENT_UNAVAILABLE)
		agent_say_status(agent_id, AGENT_READY, "it was heard of again");
	watch_registered(agent_id);
	if (!claims)
		(void) assign_pull(agent_id, RETURN_SHARE);
}

/* with every call of an agent: the registry is in memory, its row is not read */
void
liveness_sign(Slice agent_id, bool claims)
{
	(void) heartbeat_give(agent_id, false);
	if (is_unavailable(agent_id))
		take_back(agent_id, claims);
}

TimestampTz
liveness_beat(Slice agent_id)
{
	TimestampTz at = heartbeat_give(agent_id, true);

	take_back(agent_id, false);
	return at;
}

/*
 * The registry may just have been changed, by this very event: whoever reads
 * it all for each of ten thousand that register would never be done.
 */
void
liveness_follow(const Envelope *envelope, Slice agent_id)
{
	JsonbValue	payload = envelope->payload;
	Slice		name = document_get_text(payload.val.binary.data, "status");
	AgentStatus status;
	AgentCard	card;

	(void) liveness_beat(agent_id);
	if (envelope->type == MSG_AGENT_HEARTBEAT)
		watch_registered(agent_id);
	else
	{
		agent_card_read(&payload, "/payload", envelope->type == MSG_AGENT_UPDATE, &card,
						problem_list());
		watch_from_now(card.heartbeat_sec);
	}
	if (envelope->type == MSG_AGENT_HEARTBEAT && agent_status_parse(name, &status) &&
		agent_status_gives_up(status))
		(void) give_up_tasks(agent_id, "its agent gave it up");
	else
		(void) assign_pull(agent_id, RETURN_SHARE);
}

/* its tasks are given on by the next tick: who is here has locks enough */
void
liveness_timed_out(Slice agent_id)
{
	AgentStatus status;

	if (breaker_times_out(agent_id) && agent_try_lock(agent_id, &status) &&
		agent_status_may_become(status, AGENT_UNAVAILABLE) && status != AGENT_UNAVAILABLE)
		agent_say_status(agent_id, AGENT_UNAVAILABLE, "its last three tasks timed out");
}

/* -------------------------------------------------------------- watching */

/* when this backend must look again, unless the registry changes */
static struct
{
	TimestampTz looked_at;
	TimestampTz next_at;
	TimestampTz due;			/* the same, but for looking just in case */
	uint64		generation;
}			watch = {DT_NOBEGIN, DT_NOBEGIN, DT_NOBEGIN, 0};

/* the end of the last lease that the agent holds, or 0 */
static TimestampTz
leased_until(Slice agent_id)
{
	TimestampTz until = 0;
	ListCell   *cell;

	foreach(cell, slot_list_tasks(agent_id))
	{
		Task	   *task = task_look(*(Slice *) lfirst(cell), ROWS_LATEST);

		if (task != NULL && task->status == TASK_RUNNING && slice_equal(task->agent_id, agent_id))
			until = Max(until, task->lease_until);
	}
	return until;
}

/* an agent to be looked at, which outlives the roster it was found in */
typedef struct Silent
{
	Slice		agent_id;
	int			heartbeat_sec;
	bool		given_up;		/* it does not work any more: its tasks go to others */
} Silent;

/* when its silence is long enough; DT_NOEND: it is not watched */
static TimestampTz
silent_at(const Silent *agent, TimestampTz now)
{
	int64		interval = heartbeat_interval(agent->heartbeat_sec);
	TimestampTz seen = heartbeat_last_seen(agent->agent_id);
	TimestampTz at = seen + MISSED_BEATS * interval;

	if (interval == 0 || seen == 0)
		return DT_NOEND;
	if (at <= now && agent->heartbeat_sec < 0)
		at = Max(at, leased_until(agent->agent_id));
	return at;
}

/* is there something to be done about it? */
static bool
is_lost(Silent *agent, TimestampTz now)
{
	TimestampTz at;

	if (agent->given_up)
		return slot_list_tasks(agent->agent_id) != NIL;
	at = silent_at(agent, now);
	if (at > now)
		watch.due = Min(watch.due, at);
	return at <= now;
}

/* a List of Silent * */
static List *
list_lost(TimestampTz now)
{
	Roster	   *roster = roster_get();
	List	   *lost = NIL;
	int			i;

	watch.generation = roster_generation(roster);
	watch.looked_at = now;
	watch.due = DT_NOEND;
	for (i = 0; i < roster_size(roster); i++)
	{
		const RosterAgent *agent = roster_agent(roster, i);
		Silent		silent = {agent->agent_id, agent->card.heartbeat_sec,
			agent_status_gives_up(agent->status)};

		CHECK_FOR_INTERRUPTS();
		if (is_lost(&silent, now))
		{
			Silent	   *kept = palloc(sizeof(Silent));

			*kept = silent;
			kept->agent_id = slice_copy(silent.agent_id);
			lost = lappend(lost, kept);
		}
	}
	/* a task may just have been given to one of them, and not be committed */
	if (lost != NIL)
		watch.due = Min(watch.due, now + LOOK_AGAIN);
	watch.next_at = Min(watch.due, now + LOOK_AGAIN);
	return lost;
}

/* true: declared lost just now */
static bool
declare_lost(Silent *agent, TimestampTz now)
{
	AgentStatus status;

	agent->given_up = false;
	/* who has it locked may be registering it anew */
	if (!agent_try_lock(agent->agent_id, &status))
		return false;
	agent->given_up = agent_status_gives_up(status);
	/* it may have called since it was listed */
	if (agent->given_up || silent_at(agent, now) > now)
		return false;
	agent_say_status(agent->agent_id, status == AGENT_STOPPING ? AGENT_STOPPED : AGENT_UNAVAILABLE,
					 psprintf("it was not heard of since %s",
							  clock_rfc3339(heartbeat_last_seen(agent->agent_id))));
	agent->given_up = true;
	return true;
}

static bool
is_watch_due(TimestampTz now)
{
	return now < watch.looked_at || now >= watch.next_at ||
		roster_generation(roster_get()) != watch.generation;
}

/*
 * All are declared before the tasks of the first are given on: not to the
 * next of them, and the registry is read once more, not once for each.
 */
int
liveness_watch(int n)
{
	TimestampTz now = clock_now();
	int			declared = 0;
	List	   *lost;
	ListCell   *cell;

	if (!is_watch_due(now))
		return 0;
	lost = list_lost(now);
	foreach(cell, lost)
	{
		if (declared == n)
		{
			watch.next_at = watch.due = now;
			lost = list_truncate(lost, foreach_current_index(cell));
			break;
		}
		declared += declare_lost(lfirst(cell), now);
	}
	foreach(cell, lost)
	{
		Silent	   *agent = lfirst(cell);

		if (agent->given_up &&
			!give_up_tasks(agent->agent_id, "its agent is not heard of any more"))
			watch.next_at = watch.due = now;
	}
	return declared;
}

TimestampTz
liveness_next(void)
{
	return watch.due;
}
