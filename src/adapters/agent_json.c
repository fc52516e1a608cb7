/*-------------------------------------------------------------------------
 *
 * agent_json.c
 *	  The adapter for spec 002: agent.json, and registries of such agents.
 *
 * The note "registry" is the agent's name in the registry that it came from.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/agent_json.h"

#include "adapters/card.h"

static const CardDialect *
agent_json_dialect(void)
{
	return card_dialect_named(SLICE_OF("agent_json"));
}

static bool
agent_json_is_registry(const Json *raw)
{
	return card_is_registry(raw) && json_has_text(raw, "/version");
}

static const char *
agent_json_declines(const Adapter *self, const Json *raw)
{
	if (!json_is(raw, JSON_OBJECT))
		return "it is not an object";
	if (agent_json_is_registry(raw) || card_dialect_of(raw) == agent_json_dialect())
		return NULL;
	return "it is neither an agent.json with a name, a version and a description, nor a registry with a version and agents";
}

/* ------------------------------------------------------------------ inbound */

/*
 * Returns an agent.register in the run that clutch.register uses for
 * registrations, too.
 */
static Json *
agent_json_register(const Adapter *self, Json *card, Slice registered_as)
{
	Json	   *envelope = adapter_envelope(MSG_AGENT_REGISTER);

	json_put_cstring(envelope, "/run_id", "run:agents");
	json_put_cstring(envelope, "/thread_id", "thread:agents");
	json_put_cstring(envelope, "/task_id", "task:agents");
	json_put(envelope, "/from/agent_id", json_get(card, "/agent_id"));
	json_put(envelope, "/payload", card);
	if (slice_present(registered_as))
		adapter_note(self, envelope, "/registry", json_of_text(registered_as));
	return envelope;
}

/* Raises the first of the faults, if there are any. */
static void
agent_json_check(const Adapter *self, const ProblemList *list)
{
	if (list->n > 0)
		adapter_fault(self, list->items[0].path, list->items[0].code, "%s", problem_clause(list->items[0].message));
}

static List *
agent_json_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	ProblemList *list = problem_list();
	Json	   *document = json_copy(raw);
	List	   *envelopes = NIL;
	ListCell   *lc;

	if (agent_json_is_registry(raw))
	{
		List	   *entries = card_read_registry(document, false, list);

		agent_json_check(self, list);
		foreach(lc, entries)
		{
			const CardEntry *entry = lfirst(lc);

			envelopes = lappend(envelopes, agent_json_register(self, entry->card, entry->name));
			if (json_get_kind(raw, "/agents", JSON_ARRAY) != NULL)
				adapter_note(self, llast(envelopes), "/listed", json_of_bool(true));
		}
	}
	else
	{
		Json	   *card = card_read(agent_json_dialect(), (CardSource) {.raw = document, .base = "", .list = list});

		agent_json_check(self, list);
		envelopes = list_make1(agent_json_register(self, card, SLICE_NONE));
	}
	return envelopes;
}

/* ----------------------------------------------------------------- outbound */

static Json *
agent_json_outbound(const Adapter *self, const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	const Json *card = json_get_kind(envelope, "/payload", JSON_OBJECT);
	const Json *registered_as = adapter_noted(self, envelope, "/registry");
	Json	   *sender = json_new_object();
	bool		is_listed = json_is_true(adapter_noted(self, envelope, ""), "/listed");
	Json	   *agents = is_listed ? json_new_array() : json_new_object();
	Json	   *document;

	/* without its type, the payload would be taken for a card; a task.timeout comes back as a task.error */
	if (message_type_is_internal(type) && type != MSG_TASK_TIMEOUT)
		adapter_unsupported(self, envelope);
	if (card == NULL || (type != MSG_AGENT_REGISTER && type != MSG_AGENT_UPDATE))
		card = sender;
	json_put(sender, "/agent_id", json_get(envelope, "/from/agent_id"));
	document = card_write(agent_json_dialect(), card);
	if (!json_is(registered_as, JSON_TEXT))
		return document;
	if (is_listed)
		json_add(agents, document);
	else
		json_put_member(agents, registered_as->text, document);
	document = json_new_object();
	json_put_cstring(document, "/version", "3.0");
	json_put(document, "/agents", agents);
	return document;
}

const Adapter agent_json_adapter = {
	.name = "agent_json",
	.carrier = "/metadata/clutch",
	.declines = agent_json_declines,
	.inbound = agent_json_inbound,
	.outbound = agent_json_outbound,
};
