/*-------------------------------------------------------------------------
 *
 * envelope_address.c
 *	  The sender and the recipients of an envelope: "from" and "to".
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
FIELD_TABLE(party_names, "put other data into \"meta\"");

/*
 * Reads {agent_id, role} and returns the agent, or an absent slice after a
 * fault.
 */
static Slice
envelope_read_party(const JsonbValue *party, const DocumentPlace *place,
					IdentifierKind kind, ProblemList *list)
{
	Fields		f;

	if (!fields_open(&f, &party_fields, party, place, list))
		return SLICE_NONE;
	(void) fields_identifier(&f, PARTY_ROLE, OPTIONAL, ID_WORD);
	return fields_identifier(&f, PARTY_AGENT_ID, REQUIRED, kind);
}

void
envelope_read_from(const JsonbValue *from, const DocumentPlace *place,
				   Envelope *envelope, ProblemList *list)
{
	envelope->from_agent = envelope_read_party(from, place, ID_AGENT, list);
}

/*
 * A request needs an agent that does the work.  Topics and "group:*" are only
 * for messages that inform (spec 003 4.3, 4.4).
 */
static void
envelope_check_worker(const DocumentPlace *place, Slice recipient, ProblemList *list)
{
	if (slice_starts(recipient, SLICE_OF("topic:")) ||
		slice_equal(recipient, SLICE_OF("group:*")))
		place_fault(place, list, "WRONG_VALUE",
					"is %s, which cannot receive a request; send the request to agents, "
					"to groups or to \"%s\".",
					place_quote(recipient), clutch_orchestrator);
}

void
envelope_read_to(const JsonbContainer *to, const DocumentPlace *place,
				 Envelope *envelope, ProblemList *list)
{
	int			n = JsonContainerSize(to);
	DocumentPlace element = {place, SLICE_NONE};

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

		value_at(to, element.index, &party);
		envelope->to_agents.items[element.index] =
			envelope_read_party(&party, &element, ID_RECIPIENT, list);
		if (envelope->type == MSG_TASK_REQUEST)
			envelope_check_worker(&element, envelope->to_agents.items[element.index], list);
	}
}
