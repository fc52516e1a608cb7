/*-------------------------------------------------------------------------
 *
 * draft.h
 *	  A new envelope, from what its sender cares to say.
 *
 * What is left out is made: ids, the time, the recipient.  Nothing is judged
 * here; envelope_read does that when it is sent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DRAFT_H
#define CLUTCH_DRAFT_H

#include "base/text.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

/* absent slices and NULL pointers: left out */
typedef struct Draft
{
	Slice		type;
	Slice		from_agent;
	Slice		id;
	Slice		run_id;
	Slice		thread_id;
	Slice		task_id;
	Slice		parent_task_id;
	Slice		domain;
	Slice		payload_type;
	Slice		schema_ref;
	Slice		idempotency_key;

	ArrayType  *to_agents;		/* of text; NULL: to_agent only */
	Slice		to_agent;		/* absent: the orchestrator */
	ArrayType  *requires;
	ArrayType  *prefers;
	ArrayType  *after;

	Jsonb	   *payload;		/* NULL: an empty object */
	Jsonb	   *meta;
	Jsonb	   *trace;
	Jsonb	   *security;
	Jsonb	   *attachments;

	bool		has_attempt;
	int			attempt;
	bool		has_priority;
	int			priority;
	Interval   *deadline;		/* from now */
} Draft;

/*
 * With an idempotency_key, missing ids are derived from the sender and the
 * key (and the run, if one is given), so that a repeat meets itself.
 */
extern void draft_complete_ids(Draft *draft);

/* palloc'd; raises 22023 if meta cannot take what belongs into meta.clutch */
extern Jsonb *draft_document(const Draft *draft);

#endif							/* CLUTCH_DRAFT_H */
