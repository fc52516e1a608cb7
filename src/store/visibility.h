/*-------------------------------------------------------------------------
 *
 * visibility.h
 *	  Visibility: who can see a run without taking part in it.
 *
 * The first request of a run sets it in meta.clutch.visibility (spec 004):
 *
 *	public		every role that clutch.grant_agent or clutch.grant_reader was
 *				called for sees it
 *	scope		those who take part see it, and those who have its scope; this
 *				is the default
 *	parent-only	of those who take part, each sees the tasks that it requested,
 *				has or had, and everything below these
 *	private		those who take part see it
 *
 * Operators and readers without scopes see every run.  clutch.run_visibility
 * has no row for a run with the default.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_VISIBILITY_H
#define CLUTCH_VISIBILITY_H

#include "base/rows.h"
#include "protocol/envelope.h"

/*
 * Handles a request.  The first one of a run decides; a later one that asks
 * for another visibility is refused (VISIBILITY_MISMATCH).  run_has_tasks says
 * that this is not the first request.
 */
extern void visibility_set(const Envelope *request, bool run_has_tasks);

/*
 * Waits until no open transaction is setting or removing the visibility of the
 * run.  To be called before the caller looks whether the run has tasks.
 */
extern void visibility_await(Slice run_id);

extern Visibility visibility_of_run(Slice run_id, RowSnapshot which);

/* Returns false if no run has ever had another visibility than the default. */
extern bool visibility_is_in_use(void);

/* Returns the public runs, in byte order, as a List of Slice *. */
extern List *visibility_list_public(void);

/* Forgets the visibility of a run that is being pruned. */
extern void visibility_forget(Slice run_id);

#endif							/* CLUTCH_VISIBILITY_H */
