/*-------------------------------------------------------------------------
 *
 * protocol_fn.c
 *	  The SQL functions validate, new_id, require_identifier, envelope,
 *	  from_legacy and render.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "api/visible.h"
#include "base/clock.h"
#include "protocol/draft.h"
#include "protocol/envelope.h"
#include "protocol/identifier.h"
#include "protocol/legacy.h"
#include "protocol/place.h"
#include "protocol/rendering.h"
#include "task/task.h"
#include "trust/principal.h"
#include "trust/secret.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_validate);
PG_FUNCTION_INFO_V1(clutch_new_id);
PG_FUNCTION_INFO_V1(clutch_require_identifier);
PG_FUNCTION_INFO_V1(clutch_envelope);
PG_FUNCTION_INFO_V1(clutch_from_legacy);
PG_FUNCTION_INFO_V1(clutch_render);

/* ---------------------------------------------------------------- validate */

/*
 * This must not be strict, because for an SQL NULL it would return no rows,
 * which means that the envelope is valid.
 */
Datum
clutch_validate(PG_FUNCTION_ARGS)
{
	ProblemList *list = problem_list();
	Envelope	envelope;

	if (argument_is_null(fcinfo, 0))
		problem_add(list, "", "NULL_VALUE", "The envelope is null.");
	else
	{
		envelope_read(PG_GETARG_JSONB_P(0), &envelope, list);
		envelope_refuse_internal(&envelope, list);
	}
	result_put_problems(fcinfo, list);
	return (Datum) 0;
}

/* ------------------------------------------------------------------ new_id */

Datum
clutch_new_id(PG_FUNCTION_ARGS)
{
	Slice		prefix = slice_of_text(PG_GETARG_TEXT_PP(0));

	if (!identifier_prefix_valid(prefix))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("prefix", "WRONG_FORMAT"),
				 errmsg("invalid prefix %s of an identifier", place_quote(prefix)),
				 errhint("Use at most 32 lower-case letters, digits and underscores, beginning with a letter, such as \"msg\" or \"task\".")));
	PG_RETURN_TEXT_P(cstring_to_text(identifier_make(slice_cstring(prefix), clock_now())));
}

/* ------------------------------------------------------ require_identifier */

/* "name" is any text that is short enough and has no control character. */
static const char *
required_identifier_fault(Slice kind, Slice text, const char **rule)
{
	const char *code = NULL;

	*rule = "it is empty";
	if (text.len == 0)
		return "EMPTY";
	if (slice_is(kind, "agent"))
		code = identifier_fault(ID_AGENT, text, rule);
	else if (slice_is(kind, "group"))
		code = identifier_fault(ID_GROUP, text, rule);
	else if (slice_is(kind, "word"))
		code = identifier_fault(ID_WORD, text, rule);
	if (code != NULL)
		return code;
	*rule = "it has a line break or another control character";
	if (identifier_find_control(text) >= 0)
		return "CONTROL_CHARACTER";
	*rule = psprintf("it has %d bytes, and the limit is %d (setting clutch.max_id_bytes)",
					 text.len, clutch_limits.max_id_bytes);
	return text.len > clutch_limits.max_id_bytes ? "TOO_LONG" : NULL;
}

/*
 * For functions in PL/pgSQL, whose arguments must be what the fields of an
 * envelope may be: others would never apply to anything.
 */
Datum
clutch_require_identifier(PG_FUNCTION_ARGS)
{
	const char *argument = slice_cstring(argument_text(fcinfo, 1, "argument"));
	Slice		kind = argument_text(fcinfo, 2, "kind");
	Slice		value = argument_text(fcinfo, 0, argument);
	const char *rule;
	const char *code = required_identifier_fault(kind, value, &rule);

	if (code != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(argument, code),
				 errmsg("invalid value %s of argument \"%s\": %s", place_quote(value), argument, rule)));
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------- envelope */

/* the arguments of clutch.envelope, in their order */
enum
{
	ARG_TYPE,
	ARG_FROM_AGENT,
	ARG_TO_AGENTS,
	ARG_PAYLOAD,
	ARG_RUN_ID,
	ARG_THREAD_ID,
	ARG_TASK_ID,
	ARG_PARENT_TASK_ID,
	ARG_REQUIRES,
	ARG_PREFERS,
	ARG_DOMAIN,
	ARG_PAYLOAD_TYPE,
	ARG_SCHEMA_REF,
	ARG_IDEMPOTENCY_KEY,
	ARG_META,
	ARG_TRACE,
	ARG_SECURITY,
	ARG_ATTACHMENTS,
	ARG_ATTEMPT,
	ARG_ID,
	ARG_PRIORITY,
	ARG_DEADLINE,
	ARG_AFTER
};

static ArrayType *
envelope_array_argument(FunctionCallInfo fcinfo, int i)
{
	return argument_is_null(fcinfo, i) ? NULL : PG_GETARG_ARRAYTYPE_P(i);
}

static void
envelope_fill_draft(FunctionCallInfo fcinfo, Draft *draft)
{
	memset(draft, 0, sizeof(*draft));
	draft->now = clock_now();
	draft->type = argument_optional_text(fcinfo, ARG_TYPE);
	draft->from_agent = argument_optional_text(fcinfo, ARG_FROM_AGENT);
	draft->id = argument_optional_text(fcinfo, ARG_ID);
	draft->run_id = argument_optional_text(fcinfo, ARG_RUN_ID);
	draft->thread_id = argument_optional_text(fcinfo, ARG_THREAD_ID);
	draft->task_id = argument_optional_text(fcinfo, ARG_TASK_ID);
	draft->parent_task_id = argument_optional_text(fcinfo, ARG_PARENT_TASK_ID);
	draft->domain = argument_optional_text(fcinfo, ARG_DOMAIN);
	draft->payload_type = argument_optional_text(fcinfo, ARG_PAYLOAD_TYPE);
	draft->schema_ref = argument_optional_text(fcinfo, ARG_SCHEMA_REF);
	draft->idempotency_key = argument_optional_text(fcinfo, ARG_IDEMPOTENCY_KEY);

	draft->to_agents = envelope_array_argument(fcinfo, ARG_TO_AGENTS);
	draft->requires = envelope_array_argument(fcinfo, ARG_REQUIRES);
	draft->prefers = envelope_array_argument(fcinfo, ARG_PREFERS);
	draft->after = envelope_array_argument(fcinfo, ARG_AFTER);

	draft->payload = argument_optional_jsonb(fcinfo, ARG_PAYLOAD);
	draft->meta = argument_optional_jsonb(fcinfo, ARG_META);
	draft->trace = argument_optional_jsonb(fcinfo, ARG_TRACE);
	draft->security = argument_optional_jsonb(fcinfo, ARG_SECURITY);
	draft->attachments = argument_optional_jsonb(fcinfo, ARG_ATTACHMENTS);

	draft->has_attempt = !argument_is_null(fcinfo, ARG_ATTEMPT);
	draft->attempt = draft->has_attempt ? PG_GETARG_INT32(ARG_ATTEMPT) : 0;
	draft->has_priority = !argument_is_null(fcinfo, ARG_PRIORITY);
	draft->priority = draft->has_priority ? PG_GETARG_INT32(ARG_PRIORITY) : 0;
	draft->deadline = argument_is_null(fcinfo, ARG_DEADLINE) ? NULL : PG_GETARG_INTERVAL_P(ARG_DEADLINE);
}

/* Fills in the run and thread of a subtask from its parent. */
static void
envelope_inherit_from_parent(Draft *draft)
{
	Task	   *parent;

	if (!slice_present(draft->parent_task_id) ||
		(slice_present(draft->run_id) && slice_present(draft->thread_id)))
		return;
	parent = task_look(draft->parent_task_id, ROWS_LATEST);
	if (parent == NULL || !visible_task(parent))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_NOT_FOUND),
				 errproblem("parent_task_id", "TASK_NOT_FOUND"),
				 errmsg("parent task %s does not exist", place_quote(draft->parent_task_id)),
				 errhint("Pass run_id and thread_id if the parent has not been sent yet.")));
	if (!slice_present(draft->run_id))
		draft->run_id = parent->run_id;
	if (!slice_present(draft->thread_id))
		draft->thread_id = parent->thread_id;
}

/*
 * Only a role that speaks for the sender may learn which IDs its key or its id
 * stands for.
 */
static void
envelope_take_secret(Draft *draft)
{
	if (!draft_derives_ids(draft))
		return;
	if (slice_present(draft->from_agent))
		principal_require(draft->from_agent, "from_agent");
	draft->secret = secret_get();
}

Datum
clutch_envelope(PG_FUNCTION_ARGS)
{
	Draft		draft;

	envelope_fill_draft(fcinfo, &draft);
	envelope_inherit_from_parent(&draft);
	envelope_take_secret(&draft);
	draft_complete_ids(&draft);
	PG_RETURN_JSONB_P(draft_document(&draft));
}

/* ------------------------------------------------------------- from_legacy */

static bool
legacy_task_in_work(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	return task != NULL && visible_task(task) && task->status != TASK_PENDING &&
		!task_status_is_over(task->status);
}

Datum
clutch_from_legacy(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(legacy_translate(PG_GETARG_JSONB_P(0), legacy_task_in_work));
}

/* ------------------------------------------------------------------ render */

/* An envelope that was admitted under other limits is rendered, too. */
Datum
clutch_render(PG_FUNCTION_ARGS)
{
	ProblemList *list = problem_list_admitted();
	Envelope	envelope;

	envelope_read_admitted(PG_GETARG_JSONB_P(0), &envelope, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	PG_RETURN_TEXT_P(cstring_to_text(rendering_of(&envelope)));
}
