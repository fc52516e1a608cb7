/*-------------------------------------------------------------------------
 *
 * schedule_envelope.c
 *	  What a schedule keeps of an envelope, and what it sends.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/json.h"
#include "flow/schedule_part.h"
#include "miscadmin.h"
#include "protocol/envelope.h"
#include "protocol/identifier.h"
#include "protocol/limits.h"
#include "protocol/problem.h"
#include "trust/principal.h"
#include "trust/secret.h"

/*
 * Returns an identifier for one sending, made from the schedule and the time, so that sending it
 * twice gives the same one.  All of it except the last part is readable. moment is empty for what
 * all sendings have in common.
 */
static Slice
schedule_id(const char *prefix, const Schedule *s, const char *moment)
{
	char	   *owner = GetUserNameFromId(s->owner, true);
	Slice		parts[] = {
		secret_get(), slice_of_cstring(prefix), slice_of_cstring(owner != NULL ? owner : ""),
		s->name, slice_of_cstring(moment)
	};

	return slice_of_cstring(psprintf("%s:%.*s%s", prefix, s->name.len, s->name.s,
									 identifier_derive(moment, parts, lengthof(parts))));
}

static Slice
schedule_id_at(const char *prefix, const Schedule *s, TimestampTz at)
{
	return schedule_id(prefix, s, psprintf("@%s", clock_rfc3339(at)));
}

static bool
schedule_is_request(JsonbContainer *template)
{
	return slice_equal(document_get_text(template, "type"), SLICE_OF("task.request"));
}

static void
schedule_put_unless_there(DocumentBuilder *b, JsonbContainer *template, const char *key, Slice id)
{
	JsonbValue	given;

	if (!document_get(template, key, &given))
		document_put_text(b, key, id);
}

Jsonb *
schedule_envelope_at(const Schedule *s, TimestampTz at)
{
	JsonbContainer *template = &s->envelope->root;
	DocumentBuilder b;
	JsonbValue	key;

	document_begin(&b);
	document_put_pairs(&b, template, NULL);
	/* with the same key, it would be a duplicate of the first envelope */
	if (document_get(template, "idempotency_key", &key) && key.type == jbvString)
		document_put_text(&b, "idempotency_key", schedule_id_at("msg", s, at));
	document_put_text(&b, "id", schedule_id_at("msg", s, at));
	document_put_timestamp(&b, "ts", clock_now());
	if (schedule_is_request(template))
		document_put_text(&b, "task_id", schedule_id_at("task", s, at));
	else
		schedule_put_unless_there(&b, template, "task_id", schedule_id_at("task", s, at));
	schedule_put_unless_there(&b, template, "run_id", schedule_id_at("run", s, at));
	schedule_put_unless_there(&b, template, "thread_id", schedule_id("thread", s, ""));
	return document_end(&b);
}

/* Returns the envelope without what each sending replaces. */
static Jsonb *
schedule_template(Jsonb *envelope)
{
	Json	   *template = json_read(envelope);

	(void) json_take(template, "/id");
	(void) json_take(template, "/ts");
	if (schedule_is_request(&envelope->root))
		(void) json_take(template, "/task_id");
	return json_write(template);
}

/*
 * Does the envelope name a deadline?  clutch.envelope computes one from an
 * interval, so every sending after the first ones would be refused.
 */
static bool
schedule_has_deadline(JsonbContainer *template)
{
	JsonbContainer *orders = document_get_container(document_get_container(template, "meta"), "clutch");
	JsonbValue	deadline;

	return document_get(orders, "deadline", &deadline);
}

/* Adds what is wrong with an envelope only because it is sent again and again. */
static void
schedule_check_envelope(const Schedule *s, const Envelope *envelope, ProblemList *problems)
{
	if (envelope->is_signed)
		problem_add(problems, "/security/auth", "NOT_ALLOWED",
					"A scheduled envelope cannot be signed, because each time it has another id and another time.");
	if (schedule_has_deadline(&s->envelope->root))
		problem_add(problems, "/meta/clutch/deadline", "NOT_ALLOWED",
					"A scheduled envelope cannot have a deadline, which is the same time for each sending; give it \"ttl_ms\", which counts from each of them.");
}

void
schedule_take_envelope(Schedule *s, Jsonb *given)
{
	ProblemList *problems = problem_list();
	Envelope	envelope;

	if (!JB_ROOT_IS_OBJECT(given))
		problem_add(problems, "", "WRONG_TYPE", "An envelope must be a JSON object.");
	else
		limits_check(given, LIMITS_USE_ARTIFACTS, problems);
	if (problems->n == 0)
	{
		s->envelope = schedule_template(given);
		envelope_read(schedule_envelope_at(s, s->next_at), &envelope, problems);
		envelope_refuse_internal(&envelope, problems);
		schedule_check_envelope(s, &envelope, problems);
	}
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	principal_require(envelope.from_agent, "/from/agent_id");
}
