/*-------------------------------------------------------------------------
 *
 * model_fn.c
 *	  The SQL functions prompt, model_message and from_model.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/model.h"
#include "adapters/multiagent.h"
#include "api/result.h"
#include "base/query.h"
#include "protocol/limits.h"
#include "protocol/place.h"
#include "protocol/rendering.h"

PG_FUNCTION_INFO_V1(clutch_prompt);
PG_FUNCTION_INFO_V1(clutch_model_message);
PG_FUNCTION_INFO_V1(clutch_from_model);

#define DROPPED		"/meta/multiagent/dropped"

static const ModelFamily *
model_family_argument(FunctionCallInfo fcinfo)
{
	Slice		name = argument_text(fcinfo, 1, "model_family");
	const ModelFamily *family = model_family(name);

	if (family == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("model_family", "WRONG_VALUE"),
				 errmsg("model family %s does not exist", place_quote(name)),
				 errhint("The families are %s.", MODEL_FAMILIES)));
	return family;
}

Datum
clutch_prompt(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "envelope");
	const ModelFamily *family = model_family_argument(fcinfo);
	ProblemList *list = problem_list_admitted();
	Envelope	envelope;
	Json	   *message;

	envelope_read_admitted(document, &envelope, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	/* only its intent is needed, so it does not matter whether the message could be read again */
	message = multiagent_adapter.outbound(&multiagent_adapter, json_read(document));
	PG_RETURN_JSONB_P(json_write(model_prompt(family, json_get_text(message, "/intent"), rendering_of(&envelope))));
}

/* Returns the message for the arguments raw and model_family. */
static Json *
model_message_argument(FunctionCallInfo fcinfo, Json **dropped)
{
	Json	   *raw = json_read(argument_foreign(fcinfo, 0, "raw"));
	Json	   *message = model_message(model_family_argument(fcinfo), raw, dropped);

	if (message == NULL)
	{
		Slice		why = model_said_why(raw);

		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_FOREIGN_INVALID),
				 errproblem("raw", "REQUIRED"),
				 errmsg("the answer of the model has neither a text nor a call of a tool"),
				 slice_present(why) ? errhint("The interface says why: %s.", place_quote(why)) :
				 errhint("Hand over what the interface of the model returned, or its text as a JSON string.")));
	}
	return message;
}

Datum
clutch_model_message(PG_FUNCTION_ARGS)
{
	Json	   *dropped;

	PG_RETURN_JSONB_P(json_write(model_message_argument(fcinfo, &dropped)));
}

/*
 * Adds these paths to those that the translation has listed in the envelope.
 * There may be so many that the envelope gets too large to be sent.
 */
static Jsonb *
model_with_dropped(Jsonb *envelope, const Json *dropped)
{
	Json	   *tree = json_read(envelope);
	Json	   *list = json_get_kind(tree, DROPPED, JSON_ARRAY);
	ProblemList *faults = problem_list();

	if (list == NULL)
	{
		list = json_new_array();
		json_put(tree, DROPPED, list);
	}
	for (int i = 0; i < dropped->n; i++)
		json_add(list, dropped->items[i]);
	envelope = json_write(tree);
	limits_check(envelope, LIMITS_USE_ARTIFACTS, faults);
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_CLUTCH_FOREIGN_INVALID, "the envelope that the answer makes");
	return envelope;
}

Datum
clutch_from_model(PG_FUNCTION_ARGS)
{
	Json	   *dropped;
	Json	   *message = model_message_argument(fcinfo, &dropped);
	Jsonb	   *arguments[] = {json_write(message),
		argument_is_null(fcinfo, 2) ? json_write(json_new_object()) : PG_GETARG_JSONB_P(2)};
	List	   *envelopes = query_list_jsonb("SELECT clutch.inbound($1, 'multiagent', $2)", arguments, lengthof(arguments));

	if (envelopes == NIL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(dropped == NULL ? llast(envelopes) : model_with_dropped(llast(envelopes), dropped));
}
