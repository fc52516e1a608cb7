/*-------------------------------------------------------------------------
 *
 * scope.h
 *	  The scope of a run, which is that of its first request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCOPE_H
#define CLUTCH_SCOPE_H

#include "protocol/envelope.h"

/* Returns the scope of a run, palloc'd; absent if it has none. */
extern Slice scope_of_run(Slice run_id);

/*
 * Returns the scope of the run of a request.  The first request sets it; a
 * later one that names another scope is refused (SCOPE_MISMATCH).
 * run_has_tasks says that this is not the first request.
 */
extern Slice scope_of_request(const Envelope *request, bool run_has_tasks);

/* The run is being pruned: what is sent to it later belongs to no scope. */
extern void scope_forget(Slice run_id);

#endif							/* CLUTCH_SCOPE_H */
