/*-------------------------------------------------------------------------
 *
 * offer.c
 *	  Offering an agent's room to waiting tasks.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/wary.h"
#include "flow/assign.h"
#include "flow/offer.h"
#include "queue/waiting.h"
#include "registry/breaker.h"
#include "registry/load.h"
#include "registry/roster.h"
#include "registry/slot.h"
#include "trust/principal.h"
#include "utils/memutils.h"
#include "wake/notify.h"

/*
 * Returns how many more tasks the agent has room for.  A slot that another
 * transaction is taking or freeing counts as taken.  Otherwise a task that is
 * tried in vain would wake this very agent to try again, until that
 * transaction is over.
 */
static int
offer_agent_room(Slice agent_id)
{
	const RosterAgent *agent = roster_look(agent_id);
	int			limit = agent == NULL ? 0 : breaker_limit(agent_id, clock_now(), agent->card.max_concurrency);
	AgentLoad	load;

	if (limit == 0)
		return 0;
	load_read(agent_id, limit, &load);
	if (load.running >= limit || !slot_is_likely(agent_id, limit))
		return 0;
	return limit - load.running;
}

static WaitingTried
offer_give_to_agent(const WaitingPlace *place, void *arg)
{
	return assign_waiting_to(place, arg);
}

/* ------------------------------------------------- tasks that are refused */

/* a trigger of a user may refuse the routing.decision of one task */
static TimestampTz wary_until = WARY_AT_FIRST;

/* after so many, the rest of a kind is left to the next look, which begins behind them */
#define MOST_FAILED		16

typedef struct Look
{
	Wary		wary;
	WaitingTry	try_one;
	void	   *arg;
	int			routed;			/* how many tasks an agent has been found for */
} Look;

typedef struct LookAt
{
	const Look *look;
	const WaitingPlace *place;
	WaitingTried tried;
} LookAt;

/* Each task is looked at in a memory context of its own, because requests may be large. */
static void
offer_look_at(void *arg)
{
	LookAt	   *at = arg;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "clutch offer", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	at->tried = at->look->try_one(at->place, at->look->arg);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

static void
offer_warn(const WaitingPlace *place, const ErrorData *error)
{
	ereport(principal_level(SLICE_NONE),
			(errcode(error->sqlerrcode),
			 errmsg("task \"%.*s\" cannot be routed: %s", place->task_id.len, place->task_id.s, error->message),
			 errhint("The other tasks are routed. %s", savepoint_advice(error))));
}

static WaitingTried
offer_try(const WaitingPlace *place, void *arg)
{
	Look	   *look = arg;
	LookAt		at = {look, place};
	int			routed = look->routed;
	ErrorData  *error;

	if (wary_run(&look->wary, offer_look_at, &at, &error))
		return at.tried;
	look->routed = routed;
	if (error != NULL)
		offer_warn(place, error);
	return look->wary.refused + look->wary.chances < MOST_FAILED ? WAITING_STAYS_ALONE : WAITING_STAYS;
}

int
offer_work(Slice agent_id, int n, bool claims)
{
	Receiver	receiver = {agent_id, claims};
	Look		look;
	int			room;
	int			given;

	/* this is the usual case, and must not cost a reading of the registry */
	if (waiting_is_empty())
		return 0;
	room = offer_agent_room(agent_id);
	if (room == 0)
		return 0;
	look = (Look) {wary_begin(&wary_until), offer_give_to_agent, &receiver};
	given = waiting_try_fitting(&(WaitingLook) {agent_id, Min(n, room), claims, offer_try, &look});
	wary_end(&look.wary);
	return given;
}

/* --------------------------------------------------------------- by a tick */

/* Routes a pending task. */
static WaitingTried
offer_route_pending(const WaitingPlace *place, int *routed)
{
	Task	   *task = waiting_lock(place);
	WaitingTried tried;

	if (task == NULL || task->status != TASK_PENDING)
		return WAITING_STAYS_ALONE;
	tried = assign_at_place(task, place);
	*routed += task->status == TASK_ASSIGNED;
	return tried;
}

static WaitingTried
offer_route_place(const WaitingPlace *place, void *arg)
{
	int		   *routed = arg;
	Receiver	anybody = {SLICE_NONE};
	Task	   *task = task_look(place->task_id, ROWS_LATEST);
	WaitingTried tried;

	if (task == NULL || !task_is_offered(task))
		return offer_route_pending(place, routed);
	tried = assign_waiting_to(place, &anybody);
	*routed += tried == WAITING_LEFT;
	return tried;
}

int
offer_to_all(int n)
{
	Look		look;

	if (waiting_is_empty())
		return 0;
	look = (Look) {wary_begin(&wary_until), offer_route_place, &look.routed};
	(void) waiting_try_kinds(n, offer_try, &look);
	wary_end(&look.wary);
	return look.routed;
}

static void
offer_file_anew(const WaitingPlace *place, const Requirement *requirement)
{
	Task	   *task = waiting_lock(place);

	if (task == NULL)
		return;
	waiting_put(task, requirement);
	task_save(task);
}

/*
 * If the rules have changed since a task began to wait, puts it into the queue
 * of what it requires now.  Otherwise, updates the reason why it waits, because
 * only the first tasks of each kind are routed again.
 */
static WaitingTried
offer_check_place(const WaitingPlace *place, void *arg)
{
	Task	   *task = task_look(place->task_id, ROWS_LATEST);
	Requirement requirement;
	Envelope	request;

	if (!waiting_is_at(task, place) || task->status != TASK_PENDING)
		return WAITING_STAYS;
	assign_read_request(task, &request);
	assign_read_requirement(task, &request, &requirement);
	if (waiting_is_of_kind(task, &requirement))
		assign_renew_failure(task, place, &requirement, request.id);
	else
		offer_file_anew(place, &requirement);
	return WAITING_STAYS;
}

static void
offer_check(const WaitingPlace *place, void *arg)
{
	Look	   *look = arg;

	if (look->wary.refused + look->wary.chances < MOST_FAILED)
		(void) offer_try(place, look);
}

/* so many tasks are checked in each tick, which takes some milliseconds unless requests are very large */
#define CHECKED_PER_TICK	100

void
offer_check_waiting(int n)
{
	Look		look;

	if (waiting_is_empty())
		return;
	look = (Look) {wary_begin(&wary_until), offer_check_place, NULL};
	waiting_see_next(Min(n, CHECKED_PER_TICK), offer_check, &look);
	wary_end(&look.wary);
}

/* ----------------------------------------------------------- consequences */

bool
offer_settle_task(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_lock_now(consequence->subject, &busy);

	if (task == NULL)
		return !busy;
	if (task->status == TASK_PENDING && !task_is_held(task))
		(void) assign_again(task);
	return true;
}

bool
offer_is_idle(const Consequence *consequence)
{
	return consequence->kind == CONSEQUENCE_OFFER && waiting_is_empty();
}

/*
 * The agent is notified in any case.  It should learn that its task has ended,
 * whoever ended it; and if a task has begun to wait meanwhile and cannot be
 * seen yet, the agent can claim it itself.
 */
bool
offer_settle(const Consequence *consequence)
{
	(void) offer_work(consequence->subject, consequence->amount, false);
	notify_agent(consequence->subject);
	return true;
}
