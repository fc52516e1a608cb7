/*-------------------------------------------------------------------------
 *
 * participant.h
 *	  Which agents take part in which run.  (docs/protocol.md, section 6.)
 *
 * An agent takes part in a run if it has sent an event of the run, which the log
 * itself says (index events_from_agent), or if an event of the run is addressed
 * to it, or to a group of it, by name.  That is said by a row of
 * clutch.participant, which names the agent or the group.  There is no row for an
 * agent that has sent in the run already, nor for one that was merely assigned a
 * task: the task says so (flow/right.h) until it leaves the agent unclaimed.
 *
 * Rows are inserted and never changed.  Two transactions may insert the same one,
 * so nobody waits.  They go when the run has left the log.
 *
 * A name is that of an agent or of a group.  The orchestrator and topics take no
 * part in a run.
 *
 * What a backend has found out it remembers, until a transaction that may have
 * made it so is rolled back, or a run is pruned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PARTICIPANT_H
#define CLUTCH_PARTICIPANT_H

#include "base/rows.h"
#include "protocol/envelope.h"

/* what the log has of a run */
typedef enum RunState
{
	RUN_IS_OPEN,				/* nothing: the next event founds it */
	RUN_IS_DOUBTFUL,			/* what another transaction has not committed */
	RUN_IS_FOUNDED
} RunState;

/* *founder is set to a transaction that decides a doubtful one. */
extern RunState participant_run_state(Slice run_id, TransactionId *founder);

/* Has this backend found out before that the name takes part in the run? */
extern bool participant_is_remembered(Slice name, Slice run_id);

/*
 * The name takes part in the run from now on, or from before, unless this
 * transaction is rolled back.
 */
extern void participant_remember(Slice name, Slice run_id);

/*
 * Has the agent sent an event of the run?  One that is not committed counts: if
 * it is rolled back, so is what made the run somebody else's.
 */
extern bool participant_has_sent(Slice agent_id, Slice run_id);

/* Has the run an event that is addressed to this very name? */
extern bool participant_was_addressed(Slice name, Slice run_id);

/* Either of these, as a statement that reads sees it, also on a standby. */
extern bool participant_look(Slice name, Slice run_id, RowSnapshot which);

/* The name takes part in the run from now on: a row, unless it does already. */
extern void participant_add(Slice name, Slice run_id);

/*
 * The same for those to whom an event is addressed, but not for the agent that
 * was assigned its task, if any.
 */
extern void participant_add_recipients(const Envelope *envelope, Slice assigned_to);

/*
 * The runs in which one of the names takes part, each once and in order of bytes,
 * as a List of Slice * that begins with those of a given list.
 */
extern List *participant_list_runs(List *runs, const SliceList *names, RowSnapshot which);

/*
 * Who takes part in the run of an event, because of it, is added to a list (which is
 * palloc'd).  When all events that are pruned together have been deleted, the second
 * function is given the list.
 */
extern List *participant_list_of_event(List *departures, const RowScan *event);
extern void participant_forget_events(List *departures);

#endif							/* CLUTCH_PARTICIPANT_H */
