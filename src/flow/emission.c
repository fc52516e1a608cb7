/*-------------------------------------------------------------------------
 *
 * emission.c
 *	  Requests that rules add to an event.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "base/path.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "contract/binding.h"
#include "contract/workflow.h"
#include "flow/emission_part.h"
#include "miscadmin.h"
#include "protocol/identifier.h"
#include "protocol/template.h"
#include "routing/rule.h"
#include "settings.h"
#include "task/task.h"
#include "trust/principal.h"
#include "trust/secret.h"

/*
 * maximum number of tasks, from a task upwards, that are examined; rules add
 * nothing to a deeper one
 */
#define MOST_ANCESTORS	100

/*
 * maximum number of them that rules may have requested, so that rules that
 * trigger one another come to an end
 */
#define MOST_RULED		8

void
emission_note(const Event *event)
{
	ListCell   *cell;

	if (event->internal || event->late || !rule_may_emit(event->envelope.type))
		return;
	foreach(cell, rule_list_emitting(&event->envelope, event->scope))
	{
		Consequence emit = {CONSEQUENCE_EMIT, 0, event->envelope.task_id, *(Slice *) lfirst(cell),
		.seq = event->seq};

		agenda_add(&emit);
	}
}

/* ------------------------------------------------------------------ whether */

/*
 * Returns the request of the task.  While the task is being routed for the
 * first time, its request is not in the log yet; it is the event itself.
 */
static Jsonb *
emission_request_of(const Emission *emission, Task *task)
{
	return emission->event_is_request && task == emission->task ? emission->document : task_request(task);
}

/*
 * Returns the rule that has requested the task, or an absent slice if none
 * has.  meta.rule counts only in requests by the orchestrator, because anybody
 * can write it.
 */
static Slice
emission_requester(const Emission *emission, Task *task)
{
	Jsonb	   *request = slice_is(task->from_agent, clutch_orchestrator) ?
		emission_request_of(emission, task) : NULL;
	JsonbContainer *meta = request == NULL ? NULL : document_get_container(&request->root, "meta");

	return document_get_text(document_get_container(meta, "rule"), "name");
}

/*
 * Would the rule trigger itself?  It would if it has requested the task of the
 * event or a task above it.  A rule with opt_in may do so, because the agents
 * of tasks that agents have proposed may propose more; it is stopped only by
 * MOST_RULED.
 */
static bool
emission_feeds_itself(const Emission *emission, bool opt_in)
{
	Task	   *task = emission->task;
	int			looks = 0;
	int			ruled = 0;

	while (task != NULL)
	{
		Slice		requester = emission_requester(emission, task);

		ruled += slice_present(requester);
		if ((!opt_in && slice_equal(requester, emission->rule)) || ruled > MOST_RULED || ++looks > MOST_ANCESTORS)
			return true;
		task = slice_present(task->parent_task_id) ?
			task_look(task->parent_task_id, ROWS_LATEST) : NULL;
	}
	return false;
}

/*
 * Does the workflow of the run have next_actions, which allows agents to
 * propose tasks?
 */
static bool
emission_has_opted_in(Slice run_id)
{
	RunBinding	binding;
	Workflow	workflow;

	return binding_of_run(run_id, &binding) &&
		workflow_find(binding.workflow, binding.version, WORKFLOW_ANY, &workflow) &&
		workflow.next_actions;
}

static bool
emission_opts_in(const Emission *emission)
{
	bool		opt_in = false;

	(void) document_get_bool(&emission->emit->root, "opt_in", &opt_in);
	return opt_in;
}

bool
emission_is_wanted(const Emission *emission)
{
	bool		opt_in = emission_opts_in(emission);

	return !emission_feeds_itself(emission, opt_in) &&
		(!opt_in || emission_has_opted_in(emission->envelope.run_id));
}

/* --------------------------------------------------------------- a request */

Slice
emission_id(const Emission *emission, const char *prefix)
{
	const Envelope *event = &emission->envelope;
	Slice		parts[] = {
		secret_get(), slice_of_cstring(prefix), emission->rule, event->run_id, event->id,
		slice_of_cstring(psprintf("%d", emission->n))
	};

	return slice_of_cstring(identifier_derive(prefix, parts, lengthof(parts)));
}

/* Puts {"agent_id": ...} under a key, or as the only element of an array. */
static void
emission_put_agent(DocumentBuilder *b, const char *key, Slice agent_id)
{
	document_open_object(b, key);
	document_put_text(b, "agent_id", agent_id);
	document_close_object(b);
}

static void
emission_put_meta(DocumentBuilder *b, const Emission *emission, JsonbContainer *made)
{
	JsonbContainer *meta = document_get_container(made, "meta");

	document_open_object(b, "meta");
	if (meta != NULL)
		document_put_pairs(b, meta, "rule");
	document_open_object(b, "rule");
	document_put_text(b, "name", emission->rule);
	document_put_text(b, "event", emission->envelope.id);
	if (slice_present(emission->sender))
		document_put_text(b, "sender", emission->sender);
	if (emission->shares)
		document_put_bool(b, "shared", true);
	document_close_object(b);
	document_close_object(b);
}

/*
 * Gives an added request the security policy of the request of the event's
 * task.
 */
static void
emission_put_policy(DocumentBuilder *b, const Emission *emission)
{
	Jsonb	   *request = emission->task == NULL ? NULL : emission_request_of(emission, emission->task);
	JsonbContainer *security = request == NULL ? NULL :
		document_get_container(&request->root, "security");
	JsonbValue	policy;

	if (!document_get(security, "policy", &policy))
		return;
	document_open_object(b, "security");
	document_put_value(b, "policy", &policy);
	document_close_object(b);
}

/*
 * Puts what the template has made.  A child of a request that is shared out
 * requires and prefers what the request does, unless the template says
 * something else.
 */
static void
emission_put_made(DocumentBuilder *b, const Emission *emission, JsonbContainer *made)
{
	static const char *const fields[] = {
		"domain", "payload_type", "schema_ref", NULL
	};
	static const char *const needs[] = {"requires", "prefers", NULL};
	JsonbValue	value;

	for (const char *const *field = fields; *field != NULL; field++)
		if (document_get(made, *field, &value))
			document_put_value(b, *field, &value);
	for (const char *const *need = needs; *need != NULL; need++)
		if (document_get(made, *need, &value) ||
			(emission->shares && document_get(&emission->document->root, *need, &value)))
			document_put_value(b, *need, &value);
	if (document_get(made, "payload", &value))
		document_put_value(b, "payload", &value);
	else
	{
		document_open_object(b, "payload");
		document_close_object(b);
	}
}

/* Returns the envelope of a request.  "made" is the template, filled in. */
static Jsonb *
emission_envelope(const Emission *emission, JsonbContainer *made, Slice to, Slice task_id)
{
	const Envelope *event = &emission->envelope;
	Slice		orchestrator = slice_of_cstring(clutch_orchestrator);
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "v", CLUTCH_PROTOCOL);
	document_put_text(&b, "id", emission_id(emission, "msg"));
	document_put_timestamp(&b, "ts", clock_now());
	document_put_text(&b, "run_id", event->run_id);
	document_put_text(&b, "thread_id", event->thread_id);
	document_put_text(&b, "task_id", slice_present(task_id) ? task_id : emission_id(emission, "task"));
	if (emission->task != NULL)
		document_put_text(&b, "parent_task_id", event->task_id);
	document_put_cstring(&b, "type", message_type_name(MSG_TASK_REQUEST));
	emission_put_agent(&b, "from", orchestrator);
	document_open_array(&b, "to");
	emission_put_agent(&b, NULL, slice_present(to) ? to : orchestrator);
	document_close_array(&b);
	emission_put_made(&b, emission, made);
	emission_put_policy(&b, emission);
	emission_put_meta(&b, emission, made);
	return document_end(&b);
}

Jsonb *
emission_make(const Emission *emission, Jsonb *source, Slice to, Slice task_id)
{
	Jsonb	   *made = template_fill(&emission->emit->root, source);

	if (!slice_present(to))
		to = document_get_text(&made->root, "to");
	return emission_envelope(emission, &made->root, to, task_id);
}

void
emission_send(Emission *emission, Jsonb *source, Slice to, Slice task_id)
{
	(void) event_send_as_owner(emission_make(emission, source, to, task_id));
	emission->n++;
}

/* ------------------------------------------------------------ all requests */

/* Returns the event with the item as one more member. */
static Jsonb *
emission_with_item(const Emission *emission, Jsonb *item)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_pairs(&b, &emission->document->root, NULL);
	document_put_jsonb(&b, "item", item);
	return document_end(&b);
}

/*
 * Returns the items of "each" that match "where", if the rule has it.  The
 * path is applied to the item alone, so this takes no longer than reading the
 * items.
 */
static List *
emission_choose_items(const Emission *emission, Slice each, List *items)
{
	Slice		where = document_get_text(&emission->emit->root, "where");
	DocumentPath path;
	List	   *chosen = NIL;
	int			first = -1;
	ListCell   *cell;

	if (!slice_present(where))
		return items;
	path = path_parse(where);
	foreach(cell, items)
	{
		CHECK_FOR_INTERRUPTS();
		if (path_fits(&path, lfirst(cell)))
			chosen = lappend(chosen, lfirst(cell));
		else if (first < 0)
			first = foreach_current_index(cell);
	}
	if (first >= 0)
		ereport(principal_level(emission->envelope.from_agent),
				(errmsg("rule \"%.*s\" has left out %d of the %d items of event \"%.*s\", which do not fit \"where\"; the first is item %d of %.*s",
						emission->rule.len, emission->rule.s, list_length(items) - list_length(chosen), list_length(items),
						emission->envelope.id.len, emission->envelope.id.s, first + 1, each.len, each.s)));
	return chosen;
}

/* Lists what the template is filled from: the event, or one document for each item. */
static void
emission_list_sources(void *arg)
{
	Emission   *emission = arg;
	Slice		each = document_get_text(&emission->emit->root, "each");
	DocumentPath path;
	List	   *items;
	ListCell   *cell;

	emission->sources = NIL;
	if (!slice_present(each))
	{
		emission->sources = list_make1(emission->document);
		return;
	}
	path = path_parse(each);
	items = emission_choose_items(emission, each, path_list(&path, emission->document, PG_INT32_MAX));
	if (list_length(items) > RULE_MOST_REQUESTS)
	{
		items = list_truncate(items, RULE_MOST_REQUESTS);
		ereport(principal_level(emission->envelope.from_agent),
				(errmsg("rule \"%.*s\" has added requests for the first %d items of event \"%.*s\", and none for the others",
						emission->rule.len, emission->rule.s, RULE_MOST_REQUESTS, emission->envelope.id.len,
						emission->envelope.id.s)));
	}
	foreach(cell, items)
		emission->sources = lappend(emission->sources, emission_with_item(emission, lfirst(cell)));
}

static void
emission_send_all(void *arg)
{
	Emission   *emission = arg;
	ListCell   *cell;

	emission_list_sources(emission);
	emission->n = 0;
	foreach(cell, emission->sources)
		emission_send(emission, lfirst(cell), SLICE_NONE, SLICE_NONE);
}

/* Sends only the request with the number emission->n. */
static void
emission_send_one(void *arg)
{
	Emission   *emission = arg;

	emission_send(emission, list_nth(emission->sources, emission->n), SLICE_NONE, SLICE_NONE);
}

/* the arguments of emission_try */
typedef struct EmissionTry
{
	void		(*step) (void *arg);
	Emission   *emission;
} EmissionTry;

static void
emission_try_as_owner(void *arg)
{
	EmissionTry *try = arg;

	principal_run_as(rows_owner(), try->step, try->emission);
}

ErrorData *
emission_try(void (*step) (void *arg), Emission *emission)
{
	EmissionTry try = {step, emission};

	return savepoint_run_whole(emission_try_as_owner, &try);
}

static void
emission_warn(const Emission *emission, const char *request, const ErrorData *error)
{
	ereport(principal_level(emission->envelope.from_agent),
			(errcode(error->sqlerrcode),
			 errmsg("rule \"%.*s\" could not add %s to event \"%.*s\": %s",
					emission->rule.len, emission->rule.s, request, emission->envelope.id.len,
					emission->envelope.id.s, error->message),
			 errhint("The event itself is not affected. Look at the column \"emit\" of clutch.routing_rule.")));
}

/*
 * Sends each request on its own, after all of them together have failed.
 * Returns false if one has failed by chance.
 */
static bool
emission_send_each(Emission *emission)
{
	for (int i = 0; i < list_length(emission->sources); i++)
	{
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		emission->n = i;
		error = emission_try(emission_send_one, emission);
		if (error != NULL && savepoint_failed_by_chance(error))
			return false;
		if (error != NULL)
			emission_warn(emission, psprintf("request %d of %d", i + 1, list_length(emission->sources)), error);
	}
	return true;
}

/*
 * Sends all requests.  Returns false if that has failed by chance.  A request
 * that is refused is not tried again.
 */
static bool
emission_send_or_warn(Emission *emission)
{
	ErrorData  *error = emission_try(emission_send_all, emission);

	if (error == NULL)
		return true;
	if (savepoint_failed_by_chance(error))
		return false;
	if (list_length(emission->sources) > 1)
		return emission_send_each(emission);
	emission_warn(emission, "a request", error);
	return true;
}

bool
emission_settle(const Consequence *consequence)
{
	Emission	emission = {.rule = consequence->because};

	emission.emit = rule_emit_of(emission.rule);
	emission.document = emission.emit == NULL ? NULL : event_read(consequence->seq, ROWS_LATEST);
	if (emission.document == NULL)
		return true;
	envelope_read_admitted(emission.document, &emission.envelope, problem_list());
	emission.task = task_look(emission.envelope.task_id, ROWS_LATEST);
	/* a message may name a task of another run */
	if (emission.task != NULL && !slice_equal(emission.task->run_id, emission.envelope.run_id))
		emission.task = NULL;
	if (!emission_is_wanted(&emission))
		return true;
	if (emission_opts_in(&emission))
		emission.sender = requirement_sender(&emission.envelope);
	return emission_send_or_warn(&emission);
}
