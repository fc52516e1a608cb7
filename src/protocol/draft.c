/*-------------------------------------------------------------------------
 *
 * draft.c
 *	  A new envelope, made from the fields that its sender specifies.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/draft.h"

#include "base/document.h"
#include "catalog/pg_type.h"
#include "protocol/identifier.h"
#include "protocol/problem.h"
#include "settings.h"
#include "utils/fmgrprotos.h"

/* ------------------------------------------------------------- identifiers */

bool
draft_derives_ids(const Draft *draft)
{
	if (slice_present(draft->idempotency_key))
		return true;
	return slice_present(draft->id) &&
		(!slice_present(draft->run_id) || !slice_present(draft->thread_id) || !slice_present(draft->task_id));
}

/*
 * An ID that the caller has not given is derived from the idempotency_key, or
 * else from the given id, so that a repetition gets the same one; without
 * either, it is a new one.  given is the draft before anything was filled in.
 */
static void
draft_complete_id(const Draft *given, Slice *id, const char *prefix)
{
	bool		has_key = slice_present(given->idempotency_key);
	Slice		parts[] = {
		given->secret, slice_of_cstring(prefix), given->from_agent,
		has_key ? given->idempotency_key : given->id, given->run_id,
		SLICE_OF("id")			/* distinguishes an id from an equal key */
	};

	if (slice_present(*id))
		return;
	if (draft_derives_ids(given))
		*id = slice_of_cstring(identifier_derive(prefix, parts, lengthof(parts) - (has_key ? 1 : 0)));
	else
		*id = slice_of_cstring(identifier_make(prefix, given->now));
}

void
draft_complete_ids(Draft *draft)
{
	Draft		given = *draft;

	draft->is_repeatable = slice_present(draft->idempotency_key) || slice_present(draft->id);
	draft_complete_id(&given, &draft->id, "msg");
	draft_complete_id(&given, &draft->run_id, "run");
	draft_complete_id(&given, &draft->thread_id, "thr");
	draft_complete_id(&given, &draft->task_id, "task");
}

/* --------------------------------------------------------------- the parts */

static void
draft_add_text(DocumentBuilder *b, Datum element, bool isnull)
{
	if (isnull)
		document_add_null(b);
	else
		document_add_text(b, slice_of_text(DatumGetTextPP(element)));
}

/* NULL elements become null, which envelope_read reports with their index */
static void
draft_put_texts(DocumentBuilder *b, const char *key, ArrayType *texts)
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
		draft_add_text(b, elements[i], nulls[i]);
	document_close_array(b);
}

static void
draft_put_recipient(DocumentBuilder *b, Slice agent_id)
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
draft_put_recipients(DocumentBuilder *b, const Draft *draft)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			i;

	document_open_array(b, "to");
	if (draft->to_agents == NULL)
		draft_put_recipient(b, slice_present(draft->to_agent) ? draft->to_agent :
							slice_of_cstring(clutch_orchestrator));
	else
	{
		deconstruct_array(draft->to_agents, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
		for (i = 0; i < n; i++)
			draft_put_recipient(b, nulls[i] ? SLICE_NONE :
								slice_of_text(DatumGetTextPP(elements[i])));
	}
	document_close_array(b);
}

static void
draft_put_jsonb(DocumentBuilder *b, const char *key, Jsonb *value)
{
	if (value)
		document_put_jsonb(b, key, value);
}

/* ------------------------------------------------------------------- meta */

/* 100000 years of twelve months; the types of PostgreSQL end soon after */
#define MOST_DEADLINE_MS	(INT64CONST(100000) * 12 * DAYS_PER_MONTH * (USECS_PER_DAY / 1000))

/*
 * Converts an interval, counting a month as 30 days, so that a repetition does
 * not depend on its date.
 */
static int64
draft_interval_ms(const Interval *i)
{
	return ((int64) i->month * DAYS_PER_MONTH + i->day) * (USECS_PER_DAY / 1000) +
		i->time / 1000;
}

static void
draft_put_deadline(DocumentBuilder *b, const Draft *draft)
{
	int64		ms;
	Datum		deadline;

	if (draft->deadline == NULL)
		return;
	ms = draft_interval_ms(draft->deadline);
	if (ms <= 0 || ms > MOST_DEADLINE_MS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("deadline", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"deadline\" must be more than zero and at most 100000 years"),
				 errhint("It is the time that the task may take, such as interval '10 minutes'.")));
	if (draft->is_repeatable)
	{
		document_put_int(b, "ttl_ms", ms);
		return;
	}
	deadline = DirectFunctionCall2(timestamptz_pl_interval,
								   TimestampTzGetDatum(draft->now),
								   IntervalPGetDatum(draft->deadline));
	document_put_timestamp(b, "deadline", DatumGetTimestampTz(deadline));
}

/*
 * Returns an object to which our own fields will be added, or NULL if it is
 * not present.  Raises an error with this message if it is not an object.
 */
static JsonbContainer *
draft_object(bool is_present, JsonbContainer *container, const char *message)
{
	if (is_present && (container == NULL || !JsonContainerIsObject(container)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("meta", "WRONG_TYPE"),
				 errmsg_internal("%s", message),
				 errhint("Pass an object, or put priority, deadline and after into it yourself.")));
	return is_present ? container : NULL;
}

/*
 * Adds the given meta, with priority, deadline and after added to meta.clutch.
 */
static void
draft_put_meta(DocumentBuilder *b, const Draft *draft)
{
	JsonbContainer *meta;
	JsonbContainer *clutch;
	JsonbValue	value;

	if (!draft->has_priority && draft->deadline == NULL && draft->after == NULL)
	{
		draft_put_jsonb(b, "meta", draft->meta);
		return;
	}
	meta = draft_object(draft->meta != NULL, draft->meta ? &draft->meta->root : NULL,
						_("argument \"meta\" must be an object if priority, deadline or after is specified"));
	clutch = draft_object(document_get(meta, "clutch", &value),
						  document_get_container(meta, "clutch"),
						  _("key \"clutch\" of argument \"meta\" must be an object if priority, deadline or after is specified"));

	document_open_object(b, "meta");
	if (meta)
		document_put_pairs(b, meta, "clutch");
	document_open_object(b, "clutch");
	if (clutch)
		document_put_pairs(b, clutch, NULL);
	if (draft->has_priority)
		document_put_int(b, "priority", draft->priority);
	draft_put_deadline(b, draft);
	draft_put_texts(b, "after", draft->after);
	document_close_object(b);
	document_close_object(b);
}

/* ------------------------------------------------------------ the document */

Jsonb *
draft_document(const Draft *draft)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "v", CLUTCH_PROTOCOL);
	document_put_text(&b, "id", draft->id);
	document_put_timestamp(&b, "ts", draft->now);
	document_put_text(&b, "run_id", draft->run_id);
	document_put_text(&b, "thread_id", draft->thread_id);
	document_put_text(&b, "task_id", draft->task_id);
	document_put_text(&b, "parent_task_id", draft->parent_task_id);
	document_put_text(&b, "type", draft->type);

	document_open_object(&b, "from");
	document_put_text(&b, "agent_id", draft->from_agent);
	document_close_object(&b);
	draft_put_recipients(&b, draft);

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
	draft_put_texts(&b, "requires", draft->requires);
	draft_put_texts(&b, "prefers", draft->prefers);
	draft_put_jsonb(&b, "trace", draft->trace);
	draft_put_jsonb(&b, "security", draft->security);
	draft_put_jsonb(&b, "attachments", draft->attachments);
	draft_put_meta(&b, draft);
	return document_end(&b);
}
