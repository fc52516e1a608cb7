/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  Which events a reader of the log wants.
 *
 * {"type", "thread_id", "run_id", "task_id", "agent", "topic", "domain",
 * "payload_type"}: a text or a list of texts each, of which one must fit; a
 * type may end with ".*".  "agent" is an inbox: what is addressed to the
 * agent, to a group it belongs to, or to all (group:*).  "path": an SQL/JSON
 * path into the envelope that must find something, or be true.  All that is
 * said must fit; {} wants everything.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FILTER_H
#define CLUTCH_FILTER_H

#include "base/rows.h"
#include "base/text.h"

typedef struct Filter
{
	SliceList	types;			/* n 0: any */
	SliceList	threads;
	SliceList	runs;
	SliceList	tasks;
	SliceList	agents;
	SliceList	topics;
	SliceList	domains;
	SliceList	payload_types;
	struct varlena *path;		/* a jsonpath; NULL: none */
	bool		path_is_predicate;	/* true, false or unknown, not what it finds */
	SliceList	inboxes;		/* recipients that reach one of agents */
} Filter;

/* every fault at once, 22023; parts are palloc'd or point into the document */
extern void filter_read(Jsonb *document, Filter *filter);

/* the current row of a scan of clutch.events */
extern bool filter_fits(const Filter *filter, const RowScan *event);

#endif							/* CLUTCH_FILTER_H */
