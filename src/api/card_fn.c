/*-------------------------------------------------------------------------
 *
 * card_fn.c
 *	  The SQL functions card_of, card_as, registry_cards and drop_credentials.
 *
 * The functions for import and export in sql/install/card.sql are built on
 * them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/card.h"
#include "adapters/credential.h"
#include "api/result.h"
#include "base/column.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(clutch_card_of);
PG_FUNCTION_INFO_V1(clutch_card_as);
PG_FUNCTION_INFO_V1(clutch_registry_cards);
PG_FUNCTION_INFO_V1(clutch_drop_credentials);

static const CardDialect *
card_named(Slice name)
{
	const CardDialect *dialect = card_dialect_named(name);

	if (dialect == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("dialect", "WRONG_VALUE"),
				 errmsg("invalid dialect %s", place_quote(name)),
				 errhint("It is one of %s.", card_dialect_names())));
	return dialect;
}

static const CardDialect *
card_that_handles(const Json *raw)
{
	const CardDialect *dialect = card_dialect_of(raw);

	if (dialect == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_NOT_HANDLED),
				 errproblem("document", "NOT_HANDLED"),
				 errmsg("the document is not recognized as the description of an agent"),
				 errhint("Name its dialect, which is one of %s. An AgentCard is for clutch.register, and a registry of agents for clutch.import_registry.",
						 card_dialect_names())));
	return dialect;
}

/*
 * Returns an argument with the ID of the agent, or an absent slice if the
 * description is to name the agent.
 */
static Slice
card_agent_argument(FunctionCallInfo fcinfo, int n)
{
	Slice		agent_id = argument_optional_text(fcinfo, n);

	if (!slice_present(agent_id))
		return agent_id;
	if (!identifier_is_valid(ID_AGENT, agent_id))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("agent_id", "WRONG_FORMAT"),
				 errmsg("invalid agent ID %s", place_quote(agent_id)),
				 errhint("An agent ID begins with \"agent:\", like \"agent:researcher\".")));
	if (slice_is(agent_id, clutch_orchestrator))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("agent_id", "NOT_ALLOWED"),
				 errmsg("%s is the orchestrator", place_quote(agent_id)),
				 errhint("It routes requests and does none of them. Give the agent another ID.")));
	return agent_id;
}

Datum
clutch_card_of(PG_FUNCTION_ARGS)
{
	Json	   *raw = json_read(argument_foreign(fcinfo, 0, "document"));
	Slice		name = argument_optional_text(fcinfo, 2);
	const CardDialect *dialect = slice_present(name) ? card_named(name) : card_that_handles(raw);
	CardSource	source = {
		.raw = raw,
		.agent_id = card_agent_argument(fcinfo, 1),
		.base = "",
		.is_import = true,
		.list = problem_list()
	};
	Json	   *card = card_read(dialect, source);

	if (source.list->n > 0)
		problem_raise(source.list, ERRCODE_CLUTCH_FOREIGN_INVALID, "the description of the agent");
	PG_RETURN_JSONB_P(json_write(card));
}

Datum
clutch_card_as(PG_FUNCTION_ARGS)
{
	Json	   *card = json_read(argument_jsonb(fcinfo, 0, "card"));
	const CardDialect *dialect = card_named(argument_text(fcinfo, 1, "dialect"));

	if (!json_is(card, JSON_OBJECT) || !slice_present(json_get_text(card, "/agent_id")))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_CARD_INVALID),
				 errproblem("card", "REQUIRED"),
				 errmsg("the card does not say to which agent it belongs"),
				 errhint("Pass an AgentCard, an object with an \"agent_id\".")));
	PG_RETURN_JSONB_P(json_write(card_write(dialect, card)));
}

Datum
clutch_registry_cards(PG_FUNCTION_ARGS)
{
	Json	   *document = json_read(argument_foreign(fcinfo, 0, "document"));
	ProblemList *list = problem_list();
	List	   *entries = card_read_registry(document, true, list);
	ListCell   *lc;

	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_FOREIGN_INVALID, "the registry");
	result_begin_rows(fcinfo);
	foreach(lc, entries)
	{
		const CardEntry *entry = lfirst(lc);
		Datum		values[3];
		bool		nulls[3] = {0};

		result_text(values, nulls, 0, entry->agent_id);
		result_text(values, nulls, 1, entry->name);
		result_jsonb(values, nulls, 2, json_write(entry->card));
		result_put_row(fcinfo, values, nulls);
	}
	return (Datum) 0;
}

Datum
clutch_drop_credentials(PG_FUNCTION_ARGS)
{
	Json	   *document = json_read(argument_foreign(fcinfo, 0, "document"));
	Json	   *dropped = credential_remove(document);
	SliceList	paths = {0, NULL};
	Datum		values[2];
	bool		nulls[2] = {0};

	paths.items = palloc(sizeof(Slice) * (dropped != NULL ? dropped->n : 1));
	for (int i = 0; dropped != NULL && i < dropped->n; i++)
		paths.items[paths.n++] = dropped->items[i]->text;
	result_begin_rows(fcinfo);
	result_jsonb(values, nulls, 0, json_write(document));
	values[1] = column_of_texts(paths);
	result_put_row(fcinfo, values, nulls);
	return (Datum) 0;
}
