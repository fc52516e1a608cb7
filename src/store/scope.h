/*-------------------------------------------------------------------------
 *
 * scope.h
 *	  The scope of a run, which is that of its first request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCOPE_H
#define CLUTCH_SCOPE_H

#include "base/rows.h"
#include "protocol/envelope.h"

/* Returns the scope of a run, palloc'd, or an absent slice if it has none. */
extern Slice scope_of_run(Slice run_id);
/* The same for readers, also on a standby. */
extern Slice scope_look(Slice run_id);

/*
 * Returns the scope of the run of a request.  The first request sets it; a
 * later request that names another scope is refused (SCOPE_MISMATCH).
 * run_has_tasks says that this is not the first request.
 */
extern Slice scope_of_request(const Envelope *request, bool run_has_tasks);

/*
 * Waits until no open transaction is setting or removing the scope of the run.
 * To be called before the caller looks whether the run has tasks.
 */
extern void scope_await(Slice run_id);

/*
 * Returns the runs of a scope or, if that is absent, all runs that have one,
 * as a List of Slice *.
 */
extern List *scope_list_runs(Slice scope);

/*
 * Forgets the scope of a run that is being pruned.  Events sent to the run
 * later belong to no scope.
 */
extern void scope_forget(Slice run_id);

#endif							/* CLUTCH_SCOPE_H */
