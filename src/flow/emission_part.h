/*-------------------------------------------------------------------------
 *
 * emission_part.h
 *	  A rule and the event to which it adds requests, for the files of this noun.
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
	Jsonb	   *document;		/* of the event */
	Envelope	envelope;
	Task	   *task;			/* NULL if it is not known */
	Slice		sender;			/* whose requests they are: whoever has asked
								 * or proposed; absent means the rule's */
	bool		event_is_request;	/* the event is the first request of the task */
	bool		shares;			/* the event is shared out: the requests stand for it */
	int			n;				/* requests so far */
} Emission;

/* May the rule add requests to the event, by what it and its run say, and by who has requested the task? */
extern bool emission_is_wanted(const Emission *emission);

/* The id of the next request, or of its task, palloc'd; prefix is "msg" or "task". */
extern Slice emission_id(const Emission *emission, const char *prefix);

/*
 * Sends the next request.  source: the event, perhaps with an item; to: absent if the
 * template says it; task_id: absent if it is derived.
 */
extern void emission_send(Emission *emission, Jsonb *source, Slice to, Slice task_id);

/*
 * Runs a step that sends requests, all or none of them, as the owner of the
 * log, or NULL if it has succeeded.
 */
extern ErrorData *emission_try(void (*step) (void *arg), Emission *emission);

#endif							/* CLUTCH_EMISSION_PART_H */
