/*-------------------------------------------------------------------------
 *
 * withdraw.c
 *	  Withdrawing agents: unregistering one, and pausing an agent or a
 *	  capability, which then gets no new work for a while.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "flow/agenda.h"
#include "flow/callee.h"
#include "flow/liveness.h"
#include "flow/withdraw.h"
#include "miscadmin.h"
#include "protocol/agent_status.h"
#include "registry/agent.h"
#include "registry/heartbeat.h"
#include "registry/pause.h"
#include "registry/roster.h"
#include "registry/slot.h"
#include "registry/slot_row.h"
#include "routing/match.h"
#include "trust/principal.h"

/* how many waiting tasks an agent is given at once when it is resumed */
#define RESUME_SHARE	100

Receipt
withdraw_unregister(Slice agent_id, Slice reason)
{
	AgentCard	card;
	Receipt		receipt;

	pause_lock(agent_id);
	agent_require_locked(agent_id);
	if (agent_read_card(agent_id, &card))
		principal_require_withdrawal(agent_id, &card);
	receipt = event_append(agent_move_envelope(agent_id, "unregistered",
											   agent_status_payload(agent_id, AGENT_STOPPED, reason)));
	agent_remove(agent_id);
	agenda_add_agent(CONSEQUENCE_GIVE_UP, agent_id, GAVE_UP);
	return receipt;
}

/* an agent that comes back within this time finds how it has done */
#define KEPT_FOR		USECS_PER_DAY

/* after a pass over all agents, a backend pauses for this time */
#define PASS_PAUSE		USECS_PER_HOUR

/*
 * An agent that is registered meanwhile has given a sign of life.  Even if its
 * slots are gone, it has as many as before.
 */
static void
withdraw_forget(Slice agent_id, TimestampTz before, int *n)
{
	if (heartbeat_last_seen(agent_id) >= before || !slot_forget(agent_id, n))
		return;
	heartbeat_forget(agent_id, before);
	(*n)--;
}

void
withdraw_sweep(int n)
{
	static TimestampTz done_at = 0;
	TimestampTz now = clock_now();
	ListCell   *cell;

	if (!clock_is_over(done_at, PASS_PAUSE, now))
		return;
	foreach(cell, slice_list_sort_unique(list_concat(slot_list_agents(), heartbeat_list_agents())))
	{
		Slice		agent_id = *(Slice *) lfirst(cell);

		if (n > 0 && roster_look(agent_id) == NULL)
			withdraw_forget(agent_id, now - KEPT_FOR, &n);
	}
	if (n > 0)
		done_at = now;
}

static Receipt
withdraw_append(Slice by_agent, const char *move, Slice what, Slice reason)
{
	DocumentBuilder b;

	document_begin(&b);
	if (slice_starts(what, SLICE_OF("agent:")))
		document_put_text(&b, "agent_id", what);
	document_put_text(&b, "what", what);
	document_put_text(&b, "reason", reason);
	return event_append(agent_move_envelope(by_agent, move, document_end(&b)));
}

Receipt
withdraw_pause(Slice by_agent, Slice what, Slice reason)
{
	Receipt		receipt;

	pause_lock(what);
	/* it may have been unregistered while we waited */
	if (slice_starts(what, SLICE_OF("agent:")))
		agent_require(what, "what");
	receipt = withdraw_append(by_agent, "paused", what, reason);
	pause_put(what, receipt.seq, receipt.received_at, by_agent, reason);
	return receipt;
}

/* Offers waiting work to the agents that may get work again. */
static void
withdraw_offer_work(Slice what)
{
	Roster	   *roster = roster_get();
	SliceList	capability = {1, &what};
	AgentSet   *agents;
	int			i = -1;

	if (slice_starts(what, SLICE_OF("agent:")))
	{
		agenda_add_agent(CONSEQUENCE_OFFER, what, RESUME_SHARE);
		return;
	}
	agents = match_all(roster, match_requires(roster, &capability), 1);
	while ((i = agent_set_next(agents, i)) >= 0)
	{
		CHECK_FOR_INTERRUPTS();
		agenda_add_agent(CONSEQUENCE_OFFER, roster_agent(roster, i)->agent_id, RESUME_SHARE);
	}
}

bool
withdraw_resume(Slice by_agent, Slice what, Receipt *receipt)
{
	pause_lock(what);
	if (!pause_remove(what))
		return false;
	*receipt = withdraw_append(by_agent, "resumed", what, SLICE_NONE);
	withdraw_offer_work(what);
	callee_take_up();
	return true;
}
