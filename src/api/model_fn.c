/*-------------------------------------------------------------------------
 *
 * model_fn.c
 *	  The SQL functions prompt and model_message.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/model.h"
#include "adapters/multiagent.h"
#include "adapters/translation.h"
#include "api/result.h"
#include "protocol/place.h"
#include "protocol/rendering.h"

PG_FUNCTION_INFO_V1(clutch_prompt);
PG_FUNCTION_INFO_V1(clutch_model_message);

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
				 errhint("There are %s.", MODEL_FAMILIES)));
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
	message = translation_outbound(&multiagent_adapter, json_read(document));
	PG_RETURN_JSONB_P(json_write(model_prompt(family, json_get_text(message, "/intent"), rendering_of(&envelope))));
}

Datum
clutch_model_message(PG_FUNCTION_ARGS)
{
	Json	   *raw = json_read(argument_jsonb(fcinfo, 0, "raw"));
	Json	   *message = model_message(model_family_argument(fcinfo), raw);

	if (message == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_FOREIGN_INVALID),
				 errproblem("raw", "REQUIRED"),
				 errmsg("the answer of the model has neither a text nor a call of a tool"),
				 errhint("Hand over what the interface of the model returned, or its text as a JSON string.")));
	PG_RETURN_JSONB_P(json_write(message));
}
