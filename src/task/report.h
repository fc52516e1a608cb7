/*-------------------------------------------------------------------------
 *
 * report.h
 *	  What an agent says of a task, made into an envelope and sent.
 *
 * The functions clutch.finish, fail, progress, report and cancel are no more
 * than this: an agent may equally insert the envelope itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REPORT_H
#define CLUTCH_REPORT_H

#include "store/event.h"
#include "task/task.h"

typedef struct Report
{
	MessageType type;
	Slice		from;
	Slice		to;
	Jsonb	   *payload;		/* NULL means an empty object */
	int			attempt;		/* 0: the one that the agent holds now */
	Slice		domain;			/* absent Slices and NULL: the field is left out */
	Slice		payload_type;
	Slice		idempotency_key;
	Jsonb	   *attachments;
	Jsonb	   *meta;			/* if given, nothing is added to it: */
	Jsonb	   *usage;			/* meta.clutch.usage */
	const char *order;			/* a key of meta.clutch, or NULL */
	Slice		value;			/* and its value, a text, or: */
	Jsonb	   *order_value;	/* any other value, or NULL if none */
} Report;

/* The envelope of an event about a task; it carries the trace of the request. */
extern Jsonb *report_build(Task *task, const Report *report);

/* Sends it to the agent that requested the task, in the domain of the request. */
extern Receipt report_send(Task *task, Report *report);

#endif							/* CLUTCH_REPORT_H */
