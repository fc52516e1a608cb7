/*-------------------------------------------------------------------------
 *
 * registry_fn.c
 *	  clutch.register, clutch.heartbeat, clutch.agents_meeting.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/clock.h"
#include "base/document.h"
#include "catalog/pg_type.h"
#include "protocol/identifier.h"
#include "registry/agent.h"
#include "routing/match.h"
#include "settings.h"
#include "trust/principal.h"
#include "utils/array.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_register);
PG_FUNCTION_INFO_V1(clutch_heartbeat);
PG_FUNCTION_INFO_V1(clutch_agents_meeting);

/* agents and what is said of them live in a run of their own */
static void
put_agent(DocumentBuilder *b, const char *key, Slice agent_id)
{
	document_open_object(b, key);
	document_put_text(b, "agent_id", agent_id);
	document_close_object(b);
}

static Jsonb *
agent_envelope(Slice agent_id, MessageType type, Jsonb *payload)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "v", CLUTCH_PROTOCOL);
	document_put_cstring(&b, "id", identifier_make("msg"));
	document_put_timestamp(&b, "ts", clock_now());
	document_put_cstring(&b, "type", message_type_name(type));
	document_put_cstring(&b, "thread_id", "thread:agents");
	document_put_cstring(&b, "run_id", "run:agents");
	document_put_cstring(&b, "task_id", "task:agents");
	put_agent(&b, "from", agent_id);
	document_open_array(&b, "to");
	put_agent(&b, NULL, slice_of_cstring(clutch_orchestrator));
	document_close_array(&b);
	document_put_jsonb(&b, "payload", payload);
	return document_end(&b);
}

/*
 * Faults of the card are told as faults of the card, before an envelope is
 * put around it.
 */
Datum
clutch_register(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "card");
	ProblemList *problems = problem_list();
	JsonbValue	value;
	AgentCard	card;

	JsonbToJsonbValue(document, &value);
	agent_card_read(&value, "", false, &card, problems);
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_CARD_INVALID, "agent card");
	return result_receipt(fcinfo, event_send(agent_envelope(card.agent_id, MSG_AGENT_REGISTER,
															 document)));
}

Datum
clutch_heartbeat(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");

	agent_require(agent_id);
	principal_require(agent_id, "/from/agent_id");
	PG_RETURN_TIMESTAMPTZ(agent_beat(agent_id, true));
}

static SliceList
slices_of_array(ArrayType *array)
{
	SliceList	list;
	Datum	   *elements;
	bool	   *nulls;
	int			i;
	int			n = 0;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &list.n);
	list.items = palloc(sizeof(Slice) * Max(list.n, 1));
	for (i = 0; i < list.n; i++)
		if (!nulls[i])
			list.items[n++] = slice_of_text((struct varlena *) PG_DETOAST_DATUM_PACKED(elements[i]));
	list.n = n;
	return list;
}

/* who has everything required, whatever its status or load */
Datum
clutch_agents_meeting(PG_FUNCTION_ARGS)
{
	SliceList	list = {0, NULL};
	Roster	   *roster = roster_get();
	AgentSet   *set;
	Datum	   *ids;
	int			n = 0;
	int			i = -1;

	if (!PG_ARGISNULL(0))
		list = slices_of_array(PG_GETARG_ARRAYTYPE_P(0));
	set = match_all(roster, match_requires(roster, &list), list.n);
	ids = palloc(sizeof(Datum) * Max(agent_set_count(set), 1));
	while ((i = agent_set_next(set, i)) >= 0)
		ids[n++] = PointerGetDatum(slice_to_text(roster_agent(roster, i)->agent_id));
	PG_RETURN_ARRAYTYPE_P(construct_array(ids, n, TEXTOID, -1, false, TYPALIGN_INT));
}
