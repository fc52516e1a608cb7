/*-------------------------------------------------------------------------
 *
 * draft.c
 *	  A new envelope, from what its sender cares to say.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/draft.h"

#include "base/clock.h"
#include "base/document.h"
#include "catalog/pg_type.h"
#include "protocol/identifier.h"
#include "settings.h"
#include "utils/fmgrprotos.h"

/* -------------------------------------------------------------------- ids */

static void
complete_id(Draft *draft, Slice run_id, Slice *id, const char *prefix)
{
	Slice		parts[] = {
		slice_of_cstring(prefix), draft->from_agent, draft->idempotency_key, run_id
	};

	if (slice_present(*id))
		return;
	if (slice_present(draft->idempotency_key))
		*id = slice_of_cstring(identifier_derive(prefix, parts, lengthof(parts)));
	else
		*id = slice_of_cstring(identifier_make(prefix));
}

void
draft_complete_ids(Draft *draft)
{
	Slice		run_id = draft->run_id; /* as given: a key counts within a run */

	complete_id(draft, run_id, &draft->id, "msg");
	complete_id(draft, run_id, &draft->run_id, "run");
	complete_id(draft, run_id, &draft->thread_id, "thr");
	complete_id(draft, run_id, &draft->task_id, "task");
}

/* --------------------------------------------------------------- the parts */

static void
add_text_or_null(DocumentBuilder *b, Datum element, bool isnull)
{
	if (isnull)
		document_add_null(b);
	else
		document_add_text(b, slice_of_text(DatumGetTextPP(element)));
}

/* NULL elements become null, for envelope_read to name them */
static void
put_texts(DocumentBuilder *b, const char *key, ArrayType *texts)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			i;

	if (texts == NULL)
		return;
	deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	document_open_array(b, key);
	for (i = 0; i < n; i++)
		add_text_or_null(b, elements[i], nulls[i]);
	document_close_array(b);
}

static void
put_recipient(DocumentBuilder *b, Slice agent_id)
{
	JsonbValue	null = {jbvNull};

	document_open_object(b, NULL);
	if (slice_present(agent_id))
		document_put_text(b, "agent_id", agent_id);
	else
		document_put_value(b, "agent_id", &null);
	document_close_object(b);
}

static void
put_recipients(DocumentBuilder *b, const Draft *draft)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			i;

	document_open_array(b, "to");
	if (draft->to_agents == NULL)
		put_recipient(b, slice_present(draft->to_agent) ? draft->to_agent :
					  slice_of_cstring(clutch_orchestrator));
	else
	{
		deconstruct_array(draft->to_agents, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
		for (i = 0; i < n; i++)
			put_recipient(b, nulls[i] ? SLICE_NONE :
						  slice_of_text(DatumGetTextPP(elements[i])));
	}
	document_close_array(b);
}

static void
put_jsonb(DocumentBuilder *b, const char *key, Jsonb *value)
{
	if (value)
		document_put_jsonb(b, key, value);
}

/* ------------------------------------------------------------------- meta */

/* months count 30 days: a repeat must not differ by the day it is made */
static int64
interval_ms(const Interval *i)
{
	return ((int64) i->month * DAYS_PER_MONTH + i->day) * (USECS_PER_DAY / 1000) +
		i->time / 1000;
}

static void
put_deadline(DocumentBuilder *b, const Draft *draft)
{
	Datum		deadline;

	if (draft->deadline == NULL)
		return;
	if (slice_present(draft->idempotency_key))
	{
		document_put_int(b, "ttl_ms", interval_ms(draft->deadline));
		return;
	}
	deadline = DirectFunctionCall2(timestamptz_pl_interval,
								   TimestampTzGetDatum(clock_now()),
								   IntervalPGetDatum(draft->deadline));
	document_put_timestamp(b, "deadline", DatumGetTimestampTz(deadline));
}

/* its fields are to join ours, so it must be an object; NULL if not there */
static JsonbContainer *
object_or_refuse(bool is_there, JsonbContainer *container, const char *what)
{
	if (is_there && (container == NULL || !JsonContainerIsObject(container)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be an object when priority, deadline or after is given",
						what)));
	return is_there ? container : NULL;
}

/* meta as given, with priority, deadline and after in meta.clutch */
static void
put_meta(DocumentBuilder *b, const Draft *draft)
{
	JsonbContainer *meta;
	JsonbContainer *clutch;
	JsonbValue	value;

	if (!draft->has_priority && draft->deadline == NULL && draft->after == NULL)
	{
		put_jsonb(b, "meta", draft->meta);
		return;
	}
	meta = object_or_refuse(draft->meta != NULL,
							draft->meta ? &draft->meta->root : NULL, "argument meta");
	clutch = object_or_refuse(document_get(meta, "clutch", &value),
							  document_get_container(meta, "clutch"),
							  "key \"clutch\" of argument meta");

	document_open_object(b, "meta");
	if (meta)
		document_put_pairs(b, meta, "clutch");
	document_open_object(b, "clutch");
	if (clutch)
		document_put_pairs(b, clutch, NULL);
	if (draft->has_priority)
		document_put_int(b, "priority", draft->priority);
	put_deadline(b, draft);
	put_texts(b, "after", draft->after);
	document_close_object(b);
	document_close_object(b);
}

/* ---------------------------------------------------------------- the whole */

Jsonb *
draft_document(const Draft *draft)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "v", CLUTCH_PROTOCOL);
	document_put_text(&b, "id", draft->id);
	document_put_timestamp(&b, "ts", clock_now());
	document_put_text(&b, "run_id", draft->run_id);
	document_put_text(&b, "thread_id", draft->thread_id);
	document_put_text(&b, "task_id", draft->task_id);
	document_put_text(&b, "parent_task_id", draft->parent_task_id);
	document_put_text(&b, "type", draft->type);

	document_open_object(&b, "from");
	document_put_text(&b, "agent_id", draft->from_agent);
	document_close_object(&b);
	put_recipients(&b, draft);

	document_put_text(&b, "domain", draft->domain);
	document_put_text(&b, "payload_type", draft->payload_type);
	document_put_text(&b, "schema_ref", draft->schema_ref);
	document_put_text(&b, "idempotency_key", draft->idempotency_key);
	if (draft->has_attempt)
		document_put_int(&b, "attempt", draft->attempt);
	if (draft->payload)
		document_put_jsonb(&b, "payload", draft->payload);
	else
	{
		document_open_object(&b, "payload");
		document_close_object(&b);
	}
	put_texts(&b, "requires", draft->requires);
	put_texts(&b, "prefers", draft->prefers);
	put_jsonb(&b, "trace", draft->trace);
	put_jsonb(&b, "security", draft->security);
	put_jsonb(&b, "attachments", draft->attachments);
	put_meta(&b, draft);
	return document_end(&b);
}
