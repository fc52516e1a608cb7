/*-------------------------------------------------------------------------
 *
 * report.h
 *	  Making an envelope from an agent's report on a task, and sending it.
 *
 * The functions clutch.finish, fail, progress, report and cancel do no more
 * than this; an agent may just as well insert the envelope itself.
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
	int			attempt;		/* 0 means the attempt that the agent holds now */
	Slice		domain;			/* if this and the following are absent or
								 * NULL, the field is left out */
	Slice		payload_type;
	Slice		idempotency_key;
	Jsonb	   *attachments;
	Jsonb	   *meta;			/* if set, nothing is added to it: */
	Jsonb	   *usage;			/* meta.clutch.usage */
	const char *order;			/* a key of meta.clutch, or NULL */
	Slice		value;			/* and its value, which is a text, or: */
	Jsonb	   *order_value;	/* any other value; NULL if there is none */
} Report;

/*
 * Returns the envelope of an event about a task.  It carries the trace of the
 * request.
 */
extern Jsonb *report_build(Task *task, const Report *report);

/*
 * Sends the report to the agent that requested the task, in the domain of the
 * request.
 */
extern Receipt report_send(Task *task, Report *report);

#endif							/* CLUTCH_REPORT_H */
