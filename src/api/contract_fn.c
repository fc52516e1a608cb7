/*-------------------------------------------------------------------------
 *
 * contract_fn.c
 *	  The SQL functions of the schema registry.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/document.h"
#include "contract/payload_type.h"
#include "protocol/place.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_register_schema);
PG_FUNCTION_INFO_V1(clutch_validate_payload);
PG_FUNCTION_INFO_V1(clutch_schema_of);
PG_FUNCTION_INFO_V1(clutch_payload_type_changed);

/* --------------------------------------------------------------- arguments */

/*
 * Returns the index of an argument in a list of words, which ends with NULL.
 * Raises an error if it is none of them.
 */
static int
argument_word(FunctionCallInfo fcinfo, int n, const char *name, const char *const *words)
{
	Slice		word = argument_text(fcinfo, n, name);
	char	   *all = "";
	int			i;

	for (i = 0; words[i] != NULL; i++)
	{
		if (slice_is(word, words[i]))
			return i;
		all = psprintf("%s%s%s", all, i > 0 ? ", " : "", words[i]);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem(name, "WRONG_VALUE"),
			 errmsg("invalid %s %s", name, place_quote(word)),
			 errhint("It is one of %s.", all)));
}

/* Returns 0 if the argument is NULL; otherwise it must be at least 1. */
static int
argument_version(FunctionCallInfo fcinfo, int n, const char *hint)
{
	return argument_count(fcinfo, n, "version", 0, PG_INT32_MAX, hint);
}

/*
 * Returns what to do about a name that is not registered.  It may be a URI, by
 * which only the argument "what" finds a schema.
 */
static const char *
advice_to_register(const char *argument, Slice name)
{
	if (strstr(slice_cstring(name), "://") == NULL)
		return "Ask an operator to run SELECT clutch.register_schema(payload_type, schema); operators and readers see in clutch.payload_type what is registered.";
	if (strcmp(argument, "what") != 0)
		return "Pass the name of the payload type. A schema_ref like schema://clutch/a/b@1 is that of the payload type a.b.v1.";
	return "Ask an operator to register a schema that has this \"$id\". A schema_ref like schema://clutch/a/b@1 is that of the payload type a.b.v1.";
}

pg_noreturn static void
raise_unknown_payload_type(const char *argument, Slice name, int version)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem(argument, "UNKNOWN_PAYLOAD_TYPE"),
			 version > 0 ?
			 errmsg("version %d of payload type %s is not registered", version, place_quote(name)) :
			 errmsg("payload type %s is not registered", place_quote(name)),
			 version > 0 ?
			 errhint("Leave the version out for the newest one; operators and readers see all versions in clutch.payload_type.") :
			 errhint("%s", advice_to_register(argument, name))));
}

/* --------------------------------------------------------------- functions */

Datum
clutch_register_schema(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "payload_type");
	Jsonb	   *schema = argument_jsonb(fcinfo, 1, "schema");

	if (!payload_type_name_valid(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("payload_type", "WRONG_FORMAT"),
				 errmsg("invalid payload type %s", place_quote(name)),
				 errhint("Use a word without blanks, \"/\" and \"@\", and without a reserved prefix like \"task:\", such as \"research.summary.v1\".")));
	PG_RETURN_INT32(payload_type_register(name, schema, argument_version(fcinfo, 2, "Pass NULL for the next version."),
										  argument_word(fcinfo, 3, "compatibility", payload_type_compatibilities),
										  argument_word(fcinfo, 4, "enforce", payload_type_enforcements)));
}

static void
put_broken(FunctionCallInfo fcinfo, const ProblemList *list)
{
	int			i;

	result_begin_rows(fcinfo);
	for (i = 0; i < list->n; i++)
	{
		const Problem *problem = &list->items[i];
		Datum		values[4];
		bool		nulls[4];

		result_text(values, nulls, 0, slice_of_cstring(problem->path));
		result_text(values, nulls, 1, slice_of_cstring(problem->schema_path));
		result_text(values, nulls, 2, slice_of_cstring(problem->keyword));
		result_text(values, nulls, 3, slice_of_cstring(problem->message));
		result_put_row(fcinfo, values, nulls);
	}
}

Datum
clutch_validate_payload(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "payload_type");
	Jsonb	   *payload = argument_jsonb(fcinfo, 1, "payload");
	int			version = argument_version(fcinfo, 2, "Pass NULL for the newest version.");
	const PayloadType *type = payload_type_find(name, version);
	JsonbValue	value = document_value(payload);
	ProblemList *list = problem_list();

	if (type == NULL)
		raise_unknown_payload_type("payload_type", name, version);
	(void) payload_type_check(type, &value, "", list);
	put_broken(fcinfo, list);
	return (Datum) 0;
}

/*
 * Returns the schema of a payload type, a schema_ref or an $id.  The schemas
 * of envelopes and AgentCards show the limits that are in force.
 */
Datum
clutch_schema_of(PG_FUNCTION_ARGS)
{
	Slice		what = argument_text(fcinfo, 0, "what");
	Jsonb	   *document = payload_type_document(what);

	if (document == NULL)
		raise_unknown_payload_type("what", what, 0);
	if (slice_equal(what, SLICE_OF("envelope")) || slice_equal(what, SLICE_OF("agent_card")))
		document = payload_type_with_limits(document);
	PG_RETURN_JSONB_P(document);
}

Datum
clutch_payload_type_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "payload_type_changed");
	payload_type_changed();
	PG_RETURN_POINTER(NULL);
}
