/*-------------------------------------------------------------------------
 *
 * emission_part.h
 *	  Private declarations of emission: a rule and the event to which it adds
 *	  requests.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EMISSION_PART_H
#define CLUTCH_EMISSION_PART_H

#include "flow/emission.h"

typedef struct Emission
{
	Slice		rule;
	Jsonb	   *emit;
	Jsonb	   *document;		/* the document of the event */
	Envelope	envelope;
	Task	   *task;			/* NULL if it is not known */
	Slice		sender;			/* in whose name the requests are made; absent
								 * if in the rule's own */
	bool		event_is_request;	/* the event is the first request of the
									 * task */
	bool		shares;			/* the event is shared out: the requests
								 * replace it */
	List	   *sources;		/* Jsonb *, one for each request */
	int			n;				/* number of requests so far */
} Emission;

/*
 * May the rule add requests to the event, judging by both, the run, and who
 * has requested the task?
 */
extern bool emission_is_wanted(const Emission *emission);

/*
 * Returns the ID of the next request, or of its task, palloc'd.  prefix is
 * "msg" or "task".
 */
extern Slice emission_id(const Emission *emission, const char *prefix);

/*
 * Make and send the next request.  source is the event, perhaps with an item;
 * "to" is absent if the template names the recipient; task_id is absent if it
 * is derived.  The envelope is palloc'd.
 */
extern Jsonb *emission_make(const Emission *emission, Jsonb *source, Slice to, Slice task_id);
extern void emission_send(Emission *emission, Jsonb *source, Slice to, Slice task_id);

/*
 * Runs a step that sends all of its requests or none, as the owner of the log.
 * Returns NULL if it has succeeded, and otherwise the error.
 */
extern ErrorData *emission_try(void (*step) (void *arg), Emission *emission);

#endif							/* CLUTCH_EMISSION_PART_H */
