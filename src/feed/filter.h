/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  Filters: which events a reader of the log wants.
 *
 * A filter is a JSON object.  Its keys are type, thread_id, run_id, task_id,
 * agent, topic, domain and payload_type, each with a text or a list of texts
 * one of which must match, and path, an SQL/JSON path into the envelope.  An
 * event must match every key that is given, so {} matches everything.
 *
 * A type may end with "*", which stands for all types with that beginning.
 * "agent" selects an inbox: what is addressed to the agent, to one of its
 * groups or to everybody (group:*), and the requests of the tasks that the
 * agent was given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FILTER_H
#define CLUTCH_FILTER_H

#include "base/rows.h"
#include "base/text.h"
#include "base/path.h"
#include "protocol/envelope.h"

typedef struct Filter
{
	SliceList	types;			/* an empty list matches anything */
	SliceList	threads;
	SliceList	runs;
	SliceList	tasks;
	SliceList	agents;
	SliceList	topics;
	SliceList	domains;
	SliceList	payload_types;
	SliceList	inboxes;		/* the recipients that reach one of the agents */
	DocumentPath	path;
} Filter;

/*
 * Reads a filter.  Reports all faults at once, with SQLSTATE 22023.  The parts
 * of the filter are palloc'd or point into the document.
 */
extern void filter_read(Jsonb *document, Filter *filter);

/*
 * The same for a document that must be an object.  The faults are added to the
 * list.
 */
extern void filter_parse(Jsonb *document, Filter *filter, ProblemList *list);

/*
 * Makes the filter for the inbox of an agent.  agent_id must live as long as
 * the filter.
 */
extern void filter_of_agent(Slice agent_id, Filter *filter);

/* Does it want events of this type? */
extern bool filter_wants_type(const Filter *filter, Slice type);

/*
 * Does the current row of a scan of clutch.events match all keys but the path,
 * and does it match the path?  How long a path takes depends on the envelope,
 * and whoever writes the filter can measure that.  So between the two, the
 * caller must make sure that the reader may see the event.
 */
extern bool filter_fits_columns(const Filter *filter, const RowScan *event);
extern bool filter_fits_path(const Filter *filter, const RowScan *event);

/* Does an event match that has its seq, but perhaps no row yet? */
extern bool filter_fits_envelope(const Filter *filter, const Envelope *envelope);

#endif							/* CLUTCH_FILTER_H */
