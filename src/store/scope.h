/*-------------------------------------------------------------------------
 *
 * scope.h
 *	  Who owns a run: the scope of its first request (DESIGN 3).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCOPE_H
#define CLUTCH_SCOPE_H

#include "protocol/envelope.h"

/* the scope of a run; absent: nobody's.  Palloc'd. */
extern Slice scope_of_run(Slice run_id);

/*
 * The scope of the run of a request.  The first request sets it; a later one
 * that names another is refused (SCOPE_MISMATCH).  run_has_tasks: this is
 * not the first.
 */
extern Slice scope_of_request(const Envelope *request, bool run_has_tasks);

#endif							/* CLUTCH_SCOPE_H */
