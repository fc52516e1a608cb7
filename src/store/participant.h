/*-------------------------------------------------------------------------
 *
 * participant.h
 *	  Participants: which agents take part in which run. (docs/protocol.md,
 *	  section 6.)
 *
 * An agent takes part in a run if it has sent an event of the run, which the
 * log itself shows (index events_from_agent), or if an event of the run is
 * addressed by name to it or to one of its groups.  The latter is recorded in
 * a row of clutch.participant, which names the agent or the group.  There is
 * no row for an agent that has sent in the run already, nor for one that was
 * merely assigned a task: the task says so (flow/right.h) until it leaves the
 * agent unclaimed.
 *
 * Rows are inserted and never updated.  Two transactions may insert the same
 * row, so nobody has to wait.  They are deleted when the run has left the log.
 *
 * A name is that of an agent or of a group.  The orchestrator and topics never
 * take part in a run.
 *
 * A backend caches what it has found out until a transaction that may have
 * caused it is rolled back, or a run is being pruned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PARTICIPANT_H
#define CLUTCH_PARTICIPANT_H

#include "base/rows.h"
#include "protocol/envelope.h"

/* what the log contains of a run */
typedef enum RunState
{
	RUN_IS_OPEN,				/* nothing, so the next event founds it */
	RUN_IS_DOUBTFUL,			/* only events that another transaction has not
								 * committed */
	RUN_IS_FOUNDED
} RunState;

/*
 * Returns what the log contains of the run.  For a doubtful run, *founder is
 * set to a transaction whose end decides.
 */
extern RunState participant_run_state(Slice run_id, TransactionId *founder);

/* Has this backend already found out that the name takes part in the run? */
extern bool participant_is_remembered(Slice name, Slice run_id);

/*
 * Records in the cache that the name takes part in the run, unless this
 * transaction is rolled back.
 */
extern void participant_remember(Slice name, Slice run_id);

/*
 * Has the agent sent an event of the run?  An uncommitted event counts; if it
 * is rolled back, so is whatever made the run somebody else's.
 */
extern bool participant_has_sent(Slice agent_id, Slice run_id);

/* Does the run have an event that is addressed to this very name? */
extern bool participant_was_addressed(Slice name, Slice run_id);

/*
 * Is either of these true, as a reading statement sees it?  Also works on a
 * standby.
 */
extern bool participant_look(Slice name, Slice run_id);

/*
 * Makes the name take part in the run from now on, by a row unless it does
 * already.
 */
extern void participant_add(Slice name, Slice run_id);

/*
 * The same for the recipients of an event, except the agent to which its task
 * was assigned, if any.
 */
extern void participant_add_recipients(const Envelope *envelope, Slice assigned_to);

/*
 * Returns the runs in which one of the names takes part, each once and in byte
 * order, as a List of Slice * that begins with the given list.
 */
extern List *participant_list_runs(List *runs, const SliceList *names);

/*
 * Adds those who may take part in the run of an event because of that event to
 * a palloc'd list.  After all events that are pruned together have been deleted,
 * the list is passed to the second function.  It returns false if a message of
 * a run that had left the log has come in meanwhile: then the events must stay.
 */
extern List *participant_list_of_event(List *departures, const RowScan *event);
extern bool participant_forget_events(List *departures);

/*
 * Deletes the rows of an earlier run of that name, unless the run is in the log.
 * Everybody who may found a run must call this, also if that needs no right.  The
 * rows may have been left by a prune, because a transaction was writing into the
 * run, which then rolled back.  If such a transaction, or one that is deleting
 * the rows, is still open, returns false and sets *founder to it: whether the rows
 * count is not known before it has ended.
 */
extern bool participant_forget_earlier(Slice run_id, TransactionId *founder);

/*
 * Deletes the rows of runs that are not in the log.  While they are there, they
 * would count in another run of the same name.
 */
extern void participant_forget_gone_runs(void);

#endif							/* CLUTCH_PARTICIPANT_H */
