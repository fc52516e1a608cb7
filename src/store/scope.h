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

/* Returns the scope of a run, palloc'd; absent if it has none. */
extern Slice scope_of_run(Slice run_id);

/*
 * Returns the scope of the run of a request.  The first request sets it; a
 * later one that names another scope is refused (SCOPE_MISMATCH).
 * run_has_tasks says that this is not the first request.
 */
extern Slice scope_of_request(const Envelope *request, bool run_has_tasks);

/* The same for those who only read, also on a standby. */
extern Slice scope_look(Slice run_id, RowSnapshot which);

/* The runs of a scope, or, if that is absent, all runs that have one: a List of Slice *. */
extern List *scope_list_runs(Slice scope, RowSnapshot which);

/* The run is being pruned: what is sent to it later belongs to no scope. */
extern void scope_forget(Slice run_id);

#endif							/* CLUTCH_SCOPE_H */
