/*-------------------------------------------------------------------------
 *
 * liveness.c
 *	  Liveness: agents that fall silent, and the work that they leave behind.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/wary.h"
#include "flow/liveness.h"
#include "flow/requeue.h"
#include "miscadmin.h"
#include "outbox/endpoint.h"
#include "registry/agent.h"
#include "registry/breaker.h"
#include "registry/heartbeat.h"
#include "registry/slot.h"
#include "settings.h"
#include "task/task.h"
#include "trust/principal.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* how many heartbeats an agent may miss before it is lost */
#define MISSED_BEATS	3

/* all agents are checked again after this time at the latest */
#define LOOK_AGAIN		(30 * USECS_PER_SEC)

/* how many waiting tasks a new or returning agent is given at once */
#define RETURN_SHARE	100

/* ------------------------------------------------------------ what it held */

/* so many tasks are taken away from an agent in one transaction */
#define TAKE_AWAY_SHARE	1000

/*
 * An agent may hold a million tasks, so the rest is left to a later
 * transaction.
 */
bool
liveness_settle_agent(const Consequence *consequence)
{
	int			from = 0;
	List	   *tasks = slot_list_tasks(consequence->subject, &from, TAKE_AWAY_SHARE);
	ListCell   *cell;

	foreach(cell, tasks)
	{
		Consequence task = {CONSEQUENCE_TAKE_AWAY, 0, *(Slice *) lfirst(cell),
		consequence->subject, consequence->amount};

		agenda_add(&task);
	}
	return list_length(tasks) < TAKE_AWAY_SHARE;
}

bool
liveness_settle_task(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_lock_now(consequence->subject, &busy);

	if (task == NULL)
		return !busy;
	if (!slice_equal(task->agent_id, consequence->because))
		return true;
	if (task->status == TASK_RUNNING)
		requeue_expire(task);
	else if (task->status == TASK_ASSIGNED)
		requeue_take_away(task, consequence->amount == GAVE_UP ?
						  SLICE_OF("its agent gave it up") :
						  SLICE_OF("its agent is not heard of any more"));
	return true;
}

/* --------------------------------------------------------- signs of life */

static bool
liveness_is_unavailable(Slice agent_id)
{
	const RosterAgent *agent = roster_look(agent_id);

	return agent != NULL && agent->status == AGENT_UNAVAILABLE;
}

/*
 * Makes the worker check the agent when it may have been silent for too long.
 */
static void
liveness_watch_from_now(int heartbeat_sec)
{
	int64		interval = heartbeat_interval(heartbeat_sec);

	if (interval > 0)
		notify_due(clock_now() + MISSED_BEATS * interval);
}

/*
 * The card is read from its row, because the status of the agent has usually
 * just changed, and with it the registry: to read all of it for each of ten
 * thousand agents would take quadratic time.
 */
static void
liveness_watch_registered(Slice agent_id)
{
	AgentCard	card;

	if (agent_read_card(agent_id, &card))
		liveness_watch_from_now(card.heartbeat_sec);
}

static void
liveness_take_back(Slice agent_id, const char *reason, bool offer)
{
	AgentStatus status;

	/*
	 * an agent that declared itself unavailable will say when it is available
	 * again
	 */
	if (!agent_is_lost(agent_id))
		return;
	if (agent_try_lock(agent_id, &status) && status == AGENT_UNAVAILABLE)
		agent_say_status(agent_id, AGENT_READY, reason);
	liveness_watch_registered(agent_id);
	if (offer)
		agenda_add_agent(CONSEQUENCE_OFFER, agent_id, RETURN_SHARE);
}

static void
liveness_is_heard(Slice agent_id, bool claims)
{
	if (claims || !breaker_times_out(agent_id))
		liveness_take_back(agent_id, "it was heard of again", !claims);
}

/*
 * This runs in every call of an agent, so it reads the roster in memory rather
 * than the row.
 */
void
liveness_sign(Slice agent_id, bool claims)
{
	(void) heartbeat_give(agent_id, false);
	if (liveness_is_unavailable(agent_id))
		liveness_is_heard(agent_id, claims);
}

void
liveness_serve(Slice agent_id)
{
	if (liveness_is_unavailable(agent_id))
		liveness_take_back(agent_id, "an endpoint serves it", true);
}

TimestampTz
liveness_beat(Slice agent_id)
{
	TimestampTz at = heartbeat_give(agent_id, true);

	liveness_is_heard(agent_id, false);
	return at;
}

/* For the same reason, the card is read from the event if it has one. */
void
liveness_follow(const Envelope *envelope, Slice agent_id)
{
	JsonbValue	payload = envelope->payload;
	Slice		name = document_get_text(payload.val.binary.data, "status");
	AgentStatus status;
	AgentCard	card;

	/* an import changes the card in the name of the orchestrator, so it tells nothing of whether the agent is there */
	if (envelope->type != MSG_AGENT_UPDATE || !slice_is(envelope->from_agent, clutch_orchestrator))
		(void) liveness_beat(agent_id);
	if (envelope->type == MSG_AGENT_HEARTBEAT)
		liveness_watch_registered(agent_id);
	else
	{
		agent_card_read(&payload, "/payload", envelope->type == MSG_AGENT_UPDATE, &card,
						problem_list());
		liveness_watch_from_now(card.heartbeat_sec);
	}
	if (envelope->type == MSG_AGENT_HEARTBEAT && agent_status_parse(name, &status) &&
		agent_status_gives_up(status))
		agenda_add_agent(CONSEQUENCE_GIVE_UP, agent_id, GAVE_UP);
	else
		agenda_add_agent(CONSEQUENCE_OFFER, agent_id, RETURN_SHARE);
}

/*
 * The tasks of the agent are given to others when the next tick sees its
 * status.  A status that another transaction is changing is left alone.  So is
 * an agent behind an endpoint, because it never claims, and nothing would make
 * it available again.
 */
bool
liveness_settle_timeout(const Consequence *consequence)
{
	Slice		agent_id = consequence->subject;
	AgentStatus status;

	if (breaker_times_out(agent_id) && endpoint_serving(agent_id) == NULL && agent_try_lock(agent_id, &status) &&
		agent_status_may_become(status, AGENT_UNAVAILABLE) && status != AGENT_UNAVAILABLE)
		agent_say_status(agent_id, AGENT_UNAVAILABLE, "its last three tasks timed out");
	return true;
}

/* -------------------------------------------------------------- watching */

/*
 * When this backend checks for silent agents again.  A change of the registry
 * makes it check earlier.
 */
static struct
{
	TimestampTz looked_at;
	TimestampTz next_at;
	TimestampTz due;			/* the same without LOOK_AGAIN */
	uint64		generation;
}			watch = {DT_NOBEGIN, DT_NOBEGIN, DT_NOBEGIN, 0};

/* so many tasks of an agent are read at a time */
#define LEASE_LOOKS		64

/* Returns the latest end of a lease among these tasks, or 0. */
static TimestampTz
liveness_lease_among(List *tasks, Slice agent_id)
{
	TimestampTz until = 0;
	ListCell   *cell;

	foreach(cell, tasks)
	{
		Task	   *task = task_look(*(Slice *) lfirst(cell), ROWS_LATEST);

		if (task != NULL && task->status == TASK_RUNNING && slice_equal(task->agent_id, agent_id))
			until = Max(until, task->lease_until);
	}
	return until;
}

/*
 * Returns the end of a lease that the agent holds and that has not expired, or
 * 0.  It need not be the latest one: an agent may hold a million tasks, and it
 * is checked again when this lease ends.
 */
static TimestampTz
liveness_leased_until(Slice agent_id, TimestampTz now)
{
	MemoryContext some = AllocSetContextCreate(CurrentMemoryContext, "clutch leases of an agent",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(some);
	TimestampTz until = 0;
	int			from = 0;
	List	   *tasks;

	while (until <= now && (tasks = slot_list_tasks(agent_id, &from, LEASE_LOOKS)) != NIL)
	{
		until = liveness_lease_among(tasks, agent_id);
		MemoryContextReset(some);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(some);
	return until > now ? until : 0;
}

/* An agent to be checked.  Unlike a RosterAgent, it outlives the roster. */
typedef struct Silent
{
	Slice		agent_id;
	int			heartbeat_sec;
	bool		given_up;		/* it does not work any more, so its tasks go
								 * to others */
	bool		declared;		/* and has just been declared lost */
} Silent;

/*
 * Returns when the agent will have been silent for too long, or DT_NOEND if it
 * is not watched.
 */
static TimestampTz
liveness_silent_at(const Silent *agent, TimestampTz now)
{
	int64		interval = heartbeat_interval(agent->heartbeat_sec);
	TimestampTz seen = heartbeat_last_seen(agent->agent_id);
	TimestampTz at = seen + MISSED_BEATS * interval;

	if (interval == 0 || seen == 0 || endpoint_serving(agent->agent_id) != NULL)
		return DT_NOEND;
	if (at <= now && agent->heartbeat_sec < 0)
		at = Max(at, liveness_leased_until(agent->agent_id, now));
	return at;
}

/* Must something be done about the agent? */
static bool
liveness_is_lost(Silent *agent, TimestampTz now)
{
	TimestampTz at;

	if (agent->given_up)
		return slot_has_task(agent->agent_id);
	at = liveness_silent_at(agent, now);
	if (at > now)
		watch.due = Min(watch.due, at);
	return at <= now;
}

/*
 * Returns the agents that hold tasks but have left the registry, as a List of
 * Silent *.
 */
static List *
liveness_list_gone(const Roster *roster)
{
	List	   *gone = NIL;
	ListCell   *cell;

	foreach(cell, slot_list_agents())
	{
		Slice		agent_id = *(Slice *) lfirst(cell);
		Silent	   *agent;

		if (roster_find(roster, agent_id) >= 0 || !slot_has_task(agent_id))
			continue;
		agent = palloc0(sizeof(Silent));
		agent->agent_id = agent_id;
		agent->given_up = true;
		gone = lappend(gone, agent);
	}
	return gone;
}

/* Returns a List of Silent *. */
static List *
liveness_list_lost(TimestampTz now)
{
	Roster	   *roster = roster_get();
	List	   *lost = NIL;
	int			i;

	roster_hold(roster);
	watch.generation = roster_generation(roster);
	watch.looked_at = now;
	watch.due = DT_NOEND;
	for (i = 0; i < roster_size(roster); i++)
	{
		const RosterAgent *agent = roster_agent(roster, i);
		Silent		silent = {agent->agent_id, agent->card.heartbeat_sec,
			agent_status_gives_up(agent->status)};

		CHECK_FOR_INTERRUPTS();
		if (liveness_is_lost(&silent, now))
		{
			Silent	   *kept = palloc(sizeof(Silent));

			*kept = silent;
			kept->agent_id = slice_copy(silent.agent_id);
			lost = lappend(lost, kept);
		}
	}
	lost = list_concat(lost, liveness_list_gone(roster));
	/* an open transaction may just have given a task to one of them */
	if (lost != NIL)
		watch.due = Min(watch.due, now + LOOK_AGAIN);
	watch.next_at = Min(watch.due, now + LOOK_AGAIN);
	return lost;
}

/* Sets "declared" if this has just declared the agent lost. */
static void
liveness_declare_lost(void *arg)
{
	Silent	   *agent = arg;
	TimestampTz now = clock_now();
	AgentStatus status;

	/* it has left the registry, or is just registering again */
	if (agent->given_up && roster_look(agent->agent_id) == NULL)
		return;
	agent->given_up = false;
	/* the transaction that has locked it may be registering it again */
	if (!agent_try_lock(agent->agent_id, &status))
		return;
	agent->given_up = agent_status_gives_up(status);
	/* it may have called since it was listed */
	if (agent->given_up || liveness_silent_at(agent, now) > now)
		return;
	agent_say_status(agent->agent_id, status == AGENT_STOPPING ? AGENT_STOPPED : AGENT_UNAVAILABLE,
					 psprintf("it was not heard of since %s",
							  clock_rfc3339(heartbeat_last_seen(agent->agent_id))));
	agent->given_up = agent->declared = true;
}

/*
 * The same, but passes over an agent whose agent.status a trigger of a user
 * refuses.
 */
static bool
liveness_try_to_declare(Wary *wary, Silent *agent)
{
	ErrorData  *error;

	if (wary_run(wary, liveness_declare_lost, agent, &error))
		return agent->declared;
	/* it may have been declared lost already, if what failed is a deferred trigger */
	agent->given_up = agent->declared = false;
	if (error == NULL)
		return false;
	ereport(principal_level(agent->agent_id),
			(errcode(error->sqlerrcode),
			 errmsg("agent \"%.*s\" is silent and cannot be declared lost: %s", agent->agent_id.len, agent->agent_id.s, error->message),
			 errhint("The others are. %s", savepoint_advice(error))));
	return false;
}

static bool
liveness_is_watch_due(TimestampTz now)
{
	return now < watch.looked_at || now >= watch.next_at ||
		roster_generation(roster_get()) != watch.generation;
}

/*
 * Makes agents behind endpoints available again.  This is for an agent that
 * got an endpoint while another transaction declared it lost; in all other
 * cases, the change of the endpoint has already done it.
 */
static void
liveness_serve_all(void)
{
	ListCell   *cell;

	foreach(cell, endpoint_list_served())
		liveness_serve(*(Slice *) lfirst(cell));
}

/*
 * Declares all of them lost before any task is given to another agent, so that
 * no task goes to the next lost one, and the registry is read again only once.
 */
int
liveness_watch(int n)
{
	static TimestampTz wary_until = WARY_AT_FIRST;
	TimestampTz now = clock_now();
	int			declared = 0;
	Wary		wary;
	List	   *lost;
	ListCell   *cell;

	if (!liveness_is_watch_due(now))
		return 0;
	wary = wary_begin(&wary_until);
	liveness_serve_all();
	lost = liveness_list_lost(now);
	foreach(cell, lost)
	{
		if (declared == n)
		{
			watch.next_at = watch.due = now;
			lost = list_truncate(lost, foreach_current_index(cell));
			break;
		}
		declared += liveness_try_to_declare(&wary, lfirst(cell));
	}
	wary_end(&wary);
	foreach(cell, lost)
	{
		Silent	   *agent = lfirst(cell);

		if (agent->given_up)
			agenda_add_agent(CONSEQUENCE_GIVE_UP, agent->agent_id, WAS_LOST);
	}
	return declared;
}

TimestampTz
liveness_next(void)
{
	return watch.due;
}
