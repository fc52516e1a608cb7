/*-------------------------------------------------------------------------
 *
 * draft.h
 *	  Drafts: new envelopes, made from the fields that the sender specifies.
 *
 * Identifiers, the time and the recipient are filled in if they are missing.
 * Nothing is checked here; envelope_read checks the envelope when it is sent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DRAFT_H
#define CLUTCH_DRAFT_H

#include "base/text.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

/* Fields that are left out are absent slices and NULL pointers. */
typedef struct Draft
{
	TimestampTz now;			/* used for "ts", the deadline and new
								 * identifiers */
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
	Slice		secret;			/* see draft_derives_ids */
	bool		is_repeatable;	/* set by draft_complete_ids: a repetition has
								 * the same IDs, and so must have the same
								 * deadline */

	ArrayType  *to_agents;		/* array of text; if NULL, to_agent is used */
	Slice		to_agent;		/* if absent, too, the recipient is the
								 * orchestrator */
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
 * Fills in missing identifiers.  If there is an idempotency_key or an id, they
 * are derived from the secret, the sender, the key or else the id, and the run
 * if one is given.  So a repeated envelope has the identifiers of the first
 * one, and nobody can compute those of another sender.
 */
extern void draft_complete_ids(Draft *draft);

/*
 * Will identifiers be derived, or could they be?  Then the secret must have
 * been set.
 */
extern bool draft_derives_ids(const Draft *draft);

/*
 * Returns the envelope, palloc'd.  Raises 22023 if the deadline is not in the
 * future, or if meta, or its key "clutch", is not an object although a field
 * belongs there.
 */
extern Jsonb *draft_document(const Draft *draft);

#endif							/* CLUTCH_DRAFT_H */
