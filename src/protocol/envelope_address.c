/*-------------------------------------------------------------------------
 *
 * envelope_address.c
 *	  Who sends an envelope and who shall have it: "from" and "to".
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/envelope_part.h"

#include "settings.h"

enum
{
	PARTY_ROLE,
	PARTY_AGENT_ID
};

static const Slice party_names[] = {
	FIELD("role"),
	FIELD("agent_id"),
};

static const FieldTable party_fields =
FIELD_TABLE(party_names, "what else is to be said goes into \"meta\"");

/* {agent_id, role}; the agent, absent after a fault */
static Slice
read_party(const JsonbValue *party, const Place *place, IdentifierKind kind,
		   Slice *role, ProblemList *list)
{
	Fields		f;

	*role = SLICE_NONE;
	if (!fields_open(&f, &party_fields, party, place, list))
		return SLICE_NONE;
	*role = fields_identifier(&f, PARTY_ROLE, OPTIONAL, ID_WORD);
	return fields_identifier(&f, PARTY_AGENT_ID, REQUIRED, kind);
}

void
envelope_read_from(const JsonbValue *from, const Place *place,
				   Envelope *envelope, ProblemList *list)
{
	envelope->from_agent = read_party(from, place, ID_AGENT, &envelope->from_role, list);
}

/*
 * Work needs somebody who does it: topics and everybody are for messages
 * that only inform (spec 003 4.3, 4.4).
 */
static void
check_worker(const Place *place, Slice recipient, ProblemList *list)
{
	if (slice_starts(recipient, SLICE_OF("topic:")) ||
		slice_equal(recipient, SLICE_OF("group:*")))
		place_fault(place, list, "WRONG_VALUE",
					"is %s, which only messages that ask for nothing may go to; send a "
					"request to agents, groups or \"%s\".",
					place_quote(recipient), clutch_orchestrator);
}

void
envelope_read_to(const JsonbContainer *to, const Place *place,
				 Envelope *envelope, ProblemList *list)
{
	int			n = JsonContainerSize(to);
	Place		element = {place, SLICE_NONE};

	if (n == 0)
	{
		place_fault(place, list, "TOO_FEW",
					"is empty; name at least one recipient, like "
					"[{\"agent_id\": \"%s\"}].", clutch_orchestrator);
		return;
	}
	envelope->to_agents.n = n;
	envelope->to_agents.items = palloc(n * sizeof(Slice));
	for (; element.index < n; element.index++)
	{
		JsonbValue	party;
		Slice		role;

		value_at(to, element.index, &party);
		envelope->to_agents.items[element.index] =
			read_party(&party, &element, ID_RECIPIENT, &role, list);
		if (envelope->type == MSG_TASK_REQUEST)
			check_worker(&element, envelope->to_agents.items[element.index], list);
	}
}
