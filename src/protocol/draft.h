/*-------------------------------------------------------------------------
 *
 * draft.h
 *	  A new envelope, made from the fields that its sender specifies.
 *
 * Identifiers, the time and the recipient are filled in if they are missing.
 * Nothing is checked here; envelope_read does that when the envelope is sent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DRAFT_H
#define CLUTCH_DRAFT_H

#include "base/text.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

/* absent slices and NULL pointers stand for fields that are left out */
typedef struct Draft
{
	TimestampTz now;			/* for "ts", the deadline and new identifiers */
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
	Slice		secret;			/* from which IDs are derived if there is a key */

	ArrayType  *to_agents;		/* of text; NULL means to_agent */
	Slice		to_agent;		/* if absent, too: the orchestrator */
	ArrayType  *requires;
	ArrayType  *prefers;
	ArrayType  *after;

	Jsonb	   *payload;		/* NULL means an empty object */
	Jsonb	   *meta;
	Jsonb	   *trace;
	Jsonb	   *security;
	Jsonb	   *attachments;

	bool		has_attempt;
	int			attempt;
	bool		has_priority;
	int			priority;
	Interval   *deadline;		/* counted from now */
} Draft;

/*
 * Fills in missing identifiers.  With an idempotency_key they are derived from
 * the secret, the sender, the key, and the run if one is given, so that a repeated
 * envelope has the identifiers of the first one, and nobody can compute those of
 * another sender.
 */
extern void draft_complete_ids(Draft *draft);

/*
 * palloc'd; raises 22023 if the deadline is not in the future, and if meta, or
 * its key "clutch", is not an object although a field belongs there
 */
extern Jsonb *draft_document(const Draft *draft);

#endif							/* CLUTCH_DRAFT_H */
