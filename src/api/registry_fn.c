/*-------------------------------------------------------------------------
 *
 * registry_fn.c
 *	  clutch.register, clutch.heartbeat, clutch.set_status, and functions for
 *	  the views of the registry and for imports.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "api/visible.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/guard.h"
#include "flow/liveness.h"
#include "flow/restored.h"
#include "flow/withdraw.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "registry/agent.h"
#include "registry/breaker.h"
#include "routing/match.h"
#include "semver/version_range.h"
#include "settings.h"
#include "trust/principal.h"
#include "trust/traffic.h"
#include "utils/array.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_register);
PG_FUNCTION_INFO_V1(clutch_register_or_lock);
PG_FUNCTION_INFO_V1(clutch_heartbeat);
PG_FUNCTION_INFO_V1(clutch_agents_meeting);
PG_FUNCTION_INFO_V1(clutch_breaker);
PG_FUNCTION_INFO_V1(clutch_set_status);
PG_FUNCTION_INFO_V1(clutch_agent_transitions);
PG_FUNCTION_INFO_V1(clutch_unregister);
PG_FUNCTION_INFO_V1(clutch_pause);
PG_FUNCTION_INFO_V1(clutch_resume);

/* where the card is in the envelope that is built around it */
static const ProblemArgument register_arguments[] = {
	{"/payload", "card"},
	{"/from/agent_id", "card"},
	{NULL}
};

/*
 * Returns the ID of the agent whose card it is.  The card is checked before the
 * envelope is built, so that faults are reported by their paths in the card.
 */
static Slice
registry_agent_of(Jsonb *document)
{
	ProblemList *problems = problem_list();
	JsonbValue	value;
	AgentCard	card;

	JsonbToJsonbValue(document, &value);
	agent_card_read(&value, "", false, &card, problems);
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_CARD_INVALID, "agent card");
	return card.agent_id;
}

static Receipt
registry_register(Slice agent_id, Jsonb *document)
{
	ProblemArguments scope;
	Receipt		receipt;

	problem_arguments_begin(&scope, register_arguments);
	receipt = event_send(agent_envelope(agent_id, MSG_AGENT_REGISTER, document));
	problem_arguments_end(&scope);
	return receipt;
}

Datum
clutch_register(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "card");

	return result_receipt(fcinfo, registry_register(registry_agent_of(document), document));
}

/*
 * For clutch.place_card, which changes the card that this returns.  The role is checked
 * before anything is locked, so nobody waits for a role that may not change the agent.
 */
Datum
clutch_register_or_lock(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "card");
	Slice		agent_id = registry_agent_of(document);
	Jsonb	   *registered;

	principal_require(agent_id, "card");
	registered = agent_lock_card(agent_id);
	if (registered != NULL)
		PG_RETURN_JSONB_P(registered);
	(void) registry_register(agent_id, document);
	guard_release(agent_guard(agent_id));
	PG_RETURN_NULL();
}

Datum
clutch_heartbeat(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");

	visible_require_own_agent(agent_id, "agent_id");
	PG_RETURN_TIMESTAMPTZ(liveness_beat(agent_id));
}

/* where the arguments are in the envelope that is built from them */
static const ProblemArgument status_arguments[] = {
	{"/from/agent_id", "agent_id"},
	{"/payload/agent_id", "agent_id"},
	{"/payload/status", "status"},
	{"/payload/reason", "reason"},
	{NULL}
};

Datum
clutch_set_status(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");
	Slice		name = argument_text(fcinfo, 1, "status");
	AgentStatus status;
	ProblemArguments scope;
	Receipt		receipt;

	if (!agent_status_parse(name, &status))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("status", "WRONG_VALUE"),
				 errmsg("invalid status %s", place_quote(name)),
				 errhint("The status of an agent is INITIALIZING, READY, BUSY, UNAVAILABLE, STOPPING or STOPPED.")));
	visible_require_own_agent(agent_id, "agent_id");
	problem_arguments_begin(&scope, status_arguments);
	receipt = event_send(agent_envelope(agent_id, MSG_AGENT_HEARTBEAT,
										agent_status_payload(agent_id, status,
															 argument_optional_text(fcinfo, 2))));
	problem_arguments_end(&scope);
	return result_receipt(fcinfo, receipt);
}

Datum
clutch_unregister(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");
	Slice		reason = argument_reason(fcinfo, 1);

	visible_require_own_agent(agent_id, "agent_id");
	(void) restored_epoch();
	traffic_add_command(false);
	return result_receipt(fcinfo, withdraw_unregister(agent_id, reason));
}

/* ----------------------------------------------------------------- pausing */

/*
 * Refuses what is no capability.  One with a version would pause nothing,
 * because agents and tasks are looked up by the name alone.  It can be resumed,
 * though, because a log may have such a pause.
 */
static void
registry_refuse_pause(Slice what, bool pausing)
{
	const char *rule;

	if (identifier_fault(ID_CAPABILITY, what, &rule) != NULL ||
		(pausing && memchr(what.s, '@', what.len) != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("what", "WRONG_VALUE"),
				 errmsg("neither an agent ID nor a capability: %s", place_quote(what)),
				 errhint("Pass the ID of an agent, like \"agent:researcher\", or a capability without a version, like \"skill:research\".")));
}

/* Granting the orchestrator would help, but also grant everything else. */
static void
registry_require_operator(Slice orchestrator)
{
	if (!principal_speaks_for(orchestrator))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("what", "NOT_AN_OPERATOR"),
				 errmsg("only an operator may pause or resume a capability"),
				 errhint("Pause or resume an agent that your role speaks for, whose ID begins with \"agent:\", or ask an operator.")));
}

/*
 * Returns the agent in whose name the role pauses or resumes.  For operators,
 * who may pause anything, this is the orchestrator; otherwise it is the agent
 * that is paused.
 */
static Slice
registry_pausing_agent(Slice what, bool pausing)
{
	Slice		orchestrator = slice_of_cstring(clutch_orchestrator);

	if (slice_starts(what, SLICE_OF("agent:")))
	{
		if (!principal_speaks_for(orchestrator))
		{
			visible_require_own_agent(what, "what");
			return what;
		}
		agent_require(what, "what");
		return orchestrator;
	}
	registry_refuse_pause(what, pausing);
	registry_require_operator(orchestrator);
	return orchestrator;
}

Datum
clutch_pause(PG_FUNCTION_ARGS)
{
	Slice		what = argument_text(fcinfo, 0, "what");
	Slice		reason = argument_reason(fcinfo, 1);
	Slice		by_agent = registry_pausing_agent(what, true);
	Roster	   *roster = roster_get();

	(void) restored_epoch();
	if (!slice_starts(what, SLICE_OF("agent:")) && roster_word(roster, BY_CAPABILITY, what) == NULL)
		ereport(NOTICE,
				(errmsg("no registered agent has the capability %s", place_quote(what)),
				 errhint("It is paused anyway. SELECT unnest(capabilities) FROM clutch.agents lists the capabilities of the registered agents.")));
	traffic_add_command(true);
	return result_receipt(fcinfo, withdraw_pause(by_agent, what, reason));
}

Datum
clutch_resume(PG_FUNCTION_ARGS)
{
	Slice		what = argument_text(fcinfo, 0, "what");
	Slice		by_agent = registry_pausing_agent(what, false);
	Receipt		receipt;

	(void) restored_epoch();
	if (!withdraw_resume(by_agent, what, &receipt))
		PG_RETURN_NULL();
	traffic_add_command(true);
	return result_receipt(fcinfo, receipt);
}

Datum
clutch_agent_transitions(PG_FUNCTION_ARGS)
{
	int			from;
	int			to;

	result_begin_rows(fcinfo);
	for (from = 0; from < NUM_AGENT_STATUSES; from++)
		for (to = 0; to < NUM_AGENT_STATUSES; to++)
		{
			Datum		values[2];
			bool		nulls[2] = {0};

			if (from == to || !agent_status_may_become(from, to))
				continue;
			result_text(values, nulls, 0, slice_of_cstring(agent_status_name(from)));
			result_text(values, nulls, 1, slice_of_cstring(agent_status_name(to)));
			result_put_row(fcinfo, values, nulls);
		}
	return (Datum) 0;
}

/* Refuses what a request could not require either, because no agent would ever be found. */
static void
registry_check_required(Slice entry)
{
	Slice		id;
	Slice		range;

	identifier_split_version(entry, &id, &range);
	if (identifier_is_valid(ID_CAPABILITY, id) && (!slice_present(range) || version_range_valid(range)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("requires", "WRONG_FORMAT"),
			 errmsg("neither a capability nor one with a range of versions: %s", place_quote(entry)),
			 errhint("Write it as in \"requires\" of a request, like \"skill:research\" or \"skill:research@^1.0\".")));
}

/* A null entry is a value that the caller does not know, and must not mean that nothing is required. */
static SliceList
registry_required_argument(FunctionCallInfo fcinfo, int n)
{
	SliceList	required = {0, NULL};

	if (argument_is_null(fcinfo, n))
		return required;
	if (array_contains_nulls(PG_GETARG_ARRAYTYPE_P(n)))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errproblem("requires", "NULL_VALUE"),
				 errmsg("an element of argument \"requires\" is null")));
	required = column_texts_of(PG_GETARG_DATUM(n));
	for (int i = 0; i < required.n; i++)
		registry_check_required(required.items[i]);
	return required;
}

/*
 * Returns the agents that have every capability, whatever their status or
 * load.
 */
Datum
clutch_agents_meeting(PG_FUNCTION_ARGS)
{
	SliceList	asked = registry_required_argument(fcinfo, 0);
	SliceList	ids = {0, NULL};
	Roster	   *roster = roster_get();
	AgentSet   *set;
	int			i = -1;

	set = match_all(roster, match_requires(roster, &asked), asked.n);
	ids.items = palloc(sizeof(Slice) * agent_set_count(set));
	while ((i = agent_set_next(set, i)) >= 0)
		ids.items[ids.n++] = roster_agent(roster, i)->agent_id;
	PG_RETURN_DATUM(column_of_texts(ids));
}

/*
 * For the view "breakers".  The function counts the failures with the rights
 * of the reader.
 */
Datum
clutch_breaker(PG_FUNCTION_ARGS)
{
	Datum		values[2];
	bool		nulls[2] = {0};
	Breaker		breaker = {0};

	result_begin_rows(fcinfo);
	breaker.failures = argument_is_null(fcinfo, 0) ? 0 : Min(PG_GETARG_INT64(0), PG_INT32_MAX);
	breaker.last_failure = argument_is_null(fcinfo, 1) ? 0 : PG_GETARG_TIMESTAMPTZ(1);
	breaker_judge(&breaker, clock_now());
	result_text(values, nulls, 0, slice_of_cstring(breaker_state_name(breaker.state)));
	result_timestamp(values, nulls, 1, argument_is_null(fcinfo, 1) ? 0 : breaker.open_until);
	result_put_row(fcinfo, values, nulls);
	return (Datum) 0;
}
