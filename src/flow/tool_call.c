/*-------------------------------------------------------------------------
 *
 * tool_call.c
 *	  Checking which tools an agent may call (spec 000 6).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/egress.h"
#include "flow/tool_call.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "registry/roster.h"
#include "settings.h"
#include "store/event.h"
#include "task/task.h"

/* Returns what follows "tool:" or "mcp:". */
static Slice
tool_call_name(Slice tool)
{
	const char *colon = memchr(tool.s, ':', tool.len);

	return colon == NULL ? tool : (Slice) {colon + 1, tool.s + tool.len - (colon + 1)};
}

/*
 * Does the tool match a list entry?  A server, "mcp:<server>", stands for each
 * of its tools, "mcp:<server>/<tool>".
 */
static bool
tool_call_fits(Slice tool, Slice listed)
{
	Slice		name = tool_call_name(tool);
	Slice		known = tool_call_name(listed);

	if (slice_equal(name, known))
		return true;
	return slice_starts(tool, SLICE_OF("mcp:")) && known.len > 0 && slice_starts(name, known) &&
		(name.s[known.len] == '/' || name.s[known.len] == ':');
}

static bool
tool_call_is_listed(Slice tool, const SliceList *list)
{
	int			i;

	for (i = 0; i < list->n; i++)
		if (tool_call_fits(tool, list->items[i]))
			return true;
	return false;
}

static bool
tool_call_is_on_card(Slice tool, const Roster *roster, int ordinal)
{
	const RosterCapability *capability = roster_capabilities(roster, ordinal);
	int			i;

	for (; capability != NULL; capability = roster_next_capability(capability))
	{
		if (slice_starts(capability->id->text, SLICE_OF("tool:")) &&
			tool_call_fits(tool, capability->id->text))
			return true;
		for (i = 0; i < capability->ntools; i++)
			if (tool_call_fits(tool, capability->tools[i]->text))
				return true;
	}
	return false;
}

/* The orchestrator does no tasks, so its card does not say which tools it may call. */
static void
tool_call_check_card(const Envelope *call)
{
	bool		is_orchestrator = slice_is(call->from_agent, clutch_orchestrator);
	const Roster *roster = roster_get();
	int			ordinal = roster_find(roster, call->from_agent);
	const SliceList *hosts;

	if (ordinal < 0)
		return;
	if (!is_orchestrator && !tool_call_is_on_card(call->tool, roster, ordinal))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/payload/tool", "TOOL_NOT_ALLOWED"),
				 errmsg("\"%.*s\" may not call \"%.*s\": its card does not name that tool",
						call->from_agent.len, call->from_agent.s, call->tool.len, call->tool.s),
				 errhint("Ask an operator to register a card that has \"mcp:%.*s\" in the \"tools\" of a capability, or a capability \"tool:%.*s\".",
						 tool_call_name(call->tool).len, tool_call_name(call->tool).s,
						 tool_call_name(call->tool).len, tool_call_name(call->tool).s)));
	hosts = roster_agent(roster, ordinal)->card.egress;
	if (hosts != NULL)
		egress_check(call, hosts, "The card of the agent");
}

static void
tool_call_check_policy(const Envelope *call, const MessagePolicy *policy, const char *whose)
{
	if (policy->has_allowlist && !tool_call_is_listed(call->tool, &policy->tool_allowlist))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("/payload/tool", "TOOL_NOT_ALLOWED"),
				 errmsg("\"%.*s\" may not call \"%.*s\": the allowlist of the %s does not have that tool",
						call->from_agent.len, call->from_agent.s, call->tool.len, call->tool.s, whose),
				 errhint("The list is security.policy.tool_allowlist, which its sender has set.")));
	if (policy->has_egress)
		egress_check(call, &policy->egress_allowlist,
					 psprintf("The security.policy of the %s", whose));
}

/* Checks the lists of a request, which is read only if it has any. */
static void
tool_call_check_request(const Envelope *call, const Task *task)
{
	Jsonb	   *document = task->limits_tools ? event_read(task->request_seq, ROWS_LATEST) : NULL;
	Envelope	request;

	if (document == NULL)
		return;
	envelope_read_admitted(document, &request, problem_list());
	tool_call_check_policy(call, &request.policy,
						   psprintf("request of task \"%.*s\"", task->task_id.len, task->task_id.s));
}

/*
 * The allowlists of the task and of all tasks above it count, so that an agent
 * cannot escape the limits of its own task by delegating part of it.
 */
static void
tool_call_check_requests(const Envelope *call)
{
	Task	   *task = task_look(call->task_id, ROWS_LATEST);

	while (task != NULL && slice_equal(task->run_id, call->run_id))
	{
		CHECK_FOR_INTERRUPTS();
		tool_call_check_request(call, task);
		task = slice_present(task->parent_task_id) ?
			task_look(task->parent_task_id, ROWS_LATEST) : NULL;
	}
}

void
tool_call_check(const Envelope *call)
{
	tool_call_check_card(call);
	tool_call_check_policy(call, &call->policy, "message");
	tool_call_check_requests(call);
}
