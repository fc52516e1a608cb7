/*-------------------------------------------------------------------------
 *
 * translation_draft.c
 *	  Filling in what an adapter has left open in an envelope: identifiers,
 *	  time, sender and recipients.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/translation_part.h"

#include "base/clock.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "settings.h"

/* how many messages of a conversation may cost a look each */
#define MOST_EARLIER_MESSAGES	100

/* ------------------------------------------------------------------ context */

pg_noreturn static void
translation_fault_context(const char *member, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errproblem("context", "WRONG_TYPE"),
			 errmsg("invalid member \"%s\" of the context: must be %s", member, expected)));
}

/*
 * Raises 22023 unless it is a valid ID.  Without this check, the fault would be
 * reported as one of the document.
 */
static void
translation_check_context(const char *member, IdentifierKind kind, Slice id)
{
	const char *rule;
	const char *code = identifier_fault(kind, id, &rule);

	if (code != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("context", code),
				 errmsg("invalid member \"%s\" of the context: %s is not valid; %s", member, place_quote(id), rule)));
}

/*
 * Returns an ID of the context, or an absent slice if it is missing or null.
 */
static Slice
translation_context_id(const Translation *t, const char *member, IdentifierKind kind)
{
	Json	   *value = json_member(t->context, slice_of_cstring(member));

	if (value != NULL && value->kind != JSON_TEXT && value->kind != JSON_NULL)
		translation_fault_context(member, "a string");
	if (!json_is(value, JSON_TEXT))
		return SLICE_NONE;
	translation_check_context(member, kind, value->text);
	return value->text;
}

pg_noreturn static void
translation_fault_recipients(void)
{
	translation_fault_context("to", "an agent ID or an array of agent IDs");
}

static void
translation_add_context_recipient(Json *recipients, const Json *name)
{
	if (name->kind != JSON_TEXT)
		translation_fault_recipients();
	translation_check_context("to", ID_RECIPIENT, name->text);
	adapter_add_recipient(recipients, name->text);
}

/* Returns the recipients that the context names, of which there may be none. */
static Json *
translation_context_recipients(const Translation *t)
{
	const Json *to = adapter_member(t->context, "/to");
	Json	   *recipients = json_new_array();

	if (json_is(to, JSON_ARRAY) && to->n == 0)
		translation_fault_recipients();
	if (json_is(to, JSON_ARRAY))
		for (int i = 0; i < to->n; i++)
			translation_add_context_recipient(recipients, to->items[i]);
	else if (to != NULL)
		translation_add_context_recipient(recipients, to);
	return recipients;
}

void
translation_check_whole_context(const Translation *t)
{
	(void) translation_context_id(t, "agent_id", ID_AGENT);
	(void) translation_context_id(t, "run_id", ID_RUN);
	(void) translation_context_id(t, "thread_id", ID_THREAD);
	(void) translation_context_id(t, "task_id", ID_TASK);
	(void) translation_context_id(t, "parent_task_id", ID_TASK);
	(void) translation_context_recipients(t);
}

/* --------------------------------------------------------- run, thread and tasks */

/*
 * Returns the task that a native ID stands for: the task here that has this
 * ID; or else the one that is derived from it.  If that does not exist either,
 * the ID may be that of a request here, which was written as a document
 * without having been foreign.  "begins" says that the document itself may
 * request the task.
 */
static Slice
translation_task_of(const Translation *t, Slice native, bool begins)
{
	Slice		derived = translation_derive(t, "task", "task", SLICE_NONE, native);
	bool		may_be_ours = native.len > 0 && native.len <= clutch_limits.max_id_bytes;
	Slice		run_id;
	Slice		thread_id;
	Slice		task_id;

	if (may_be_ours && t->world->find_task(native, &run_id, &thread_id))
		return native;
	if (!may_be_ours || begins || t->world->find_task(derived, &run_id, &thread_id))
		return derived;
	task_id = t->world->find_requested_task(native);
	return slice_present(task_id) && t->world->find_task(task_id, &run_id, &thread_id) ? task_id : derived;
}

/* Returns the task that a message has requested, or an absent slice if it has requested none. */
static Slice
translation_task_requested_by(const Translation *t, Slice message)
{
	Slice		task_id = slice_present(message) ? translation_task_of(t, message, false) : SLICE_NONE;
	Slice		run_id;
	Slice		thread_id;

	return slice_present(task_id) && t->world->find_task(task_id, &run_id, &thread_id) ? task_id : SLICE_NONE;
}

/*
 * Returns the task that was requested last in the conversation, or an absent
 * slice.  A request of its own does not belong to it.
 */
static Slice
translation_task_of_conversation(const Translation *t, const Json *envelope)
{
	const Json *earlier;
	Slice		task_id;

	if (t->adapter->conversation == NULL || adapter_type(envelope) == MSG_TASK_REQUEST || adapter_member(t->context, "/task_id") != NULL)
		return SLICE_NONE;
	task_id = translation_task_requested_by(t, translation_native(t, "reply_to"));
	earlier = adapter_noted(t->adapter, envelope, t->adapter->conversation);
	if (!json_is(earlier, JSON_ARRAY))
		return task_id;
	for (int i = earlier->n - 1; i >= Max(earlier->n - MOST_EARLIER_MESSAGES, 0) && !slice_present(task_id); i--)
		task_id = translation_task_requested_by(t, translation_native_bytes(earlier->items[i]));
	return task_id;
}

static void
translation_complete_tasks(Translation *t, Json *envelope, int place)
{
	Slice		task = json_get_text(envelope, "/task_id");
	Slice		parent = json_get_text(envelope, "/parent_task_id");
	Slice		native = translation_native(t, "task_id");
	Slice		native_parent = translation_native(t, "parent_task_id");
	const char *kind;

	if (!slice_present(task))
		task = translation_task_of_conversation(t, envelope);
	if (!slice_present(task) && slice_present(native))
		task = translation_task_of(t, native, adapter_type(envelope) == MSG_TASK_REQUEST);
	if (!slice_present(task))
		task = translation_context_id(t, "task_id", ID_TASK);
	if (!slice_present(task))
	{
		Slice		key = translation_key(t, place, &kind);

		task = translation_derive(t, "task", kind, SLICE_NONE, key);
	}
	/* no task is its own subtask, although the adapter may have assumed one of its own */
	if (slice_equal(parent, task) && slice_equal(parent, translation_context_id(t, "task_id", ID_TASK)))
	{
		(void) json_take(envelope, "/parent_task_id");
		parent = SLICE_NONE;
	}
	if (!slice_present(parent) && slice_present(native_parent))
		parent = translation_task_of(t, native_parent, false);
	if (!slice_present(parent) && json_is_true(t->natives, "/subtask"))
		parent = translation_context_id(t, "task_id", ID_TASK);
	if (!slice_present(parent))
		parent = translation_context_id(t, "parent_task_id", ID_TASK);
	json_put_text(envelope, "/task_id", task);
	if (!slice_equal(parent, task))
		json_put_text(envelope, "/parent_task_id", parent);
}

/*
 * Returns the thread that a native ID stands for.  In some dialects, the other
 * side has been told the ID of our thread and sends it back, with the task or
 * with a new request.  IDs of other forms are not looked up.
 */
static Slice
translation_thread_of(const Translation *t, Slice native, Slice known)
{
	bool		may_be_ours = slice_starts(native, SLICE_OF("thr_")) || slice_starts(native, SLICE_OF("thread:"));

	if (slice_equal(native, known) || (may_be_ours && native.len <= clutch_limits.max_id_bytes && t->world->knows_thread(native)))
		return native;
	return translation_derive(t, "thr", "thread", SLICE_NONE, native);
}

/*
 * Fills in the run and the thread.  The run is taken from the first of these
 * that has one: the envelope, its task or parent task if that is known here,
 * the document, the context.  If none has, it is the run that the parent task
 * would begin, because subtasks may come before their parent; or else the
 * task, or a message without a task, begins a run of its own.  The thread is
 * taken from the envelope, the document, the context, or the known task;
 * otherwise it is derived from the run.
 */
static void
translation_complete_run(Translation *t, Json *envelope, int place)
{
	Slice		run = json_get_text(envelope, "/run_id");
	Slice		thread = json_get_text(envelope, "/thread_id");
	Slice		native_run = translation_native(t, "run_id");
	Slice		native_thread = translation_native(t, "thread_id");
	Slice		native_task = translation_native(t, "task_id");
	Slice		native_parent = translation_native(t, "parent_task_id");
	Slice		task = json_get_text(envelope, "/task_id");
	Slice		parent = json_get_text(envelope, "/parent_task_id");
	Slice		known_run = SLICE_NONE;
	Slice		known_thread = SLICE_NONE;
	const char *kind = "task";

	if ((!slice_present(run) || !slice_present(thread)) &&
		!t->world->find_task(task, &known_run, &known_thread) && slice_present(parent))
		(void) t->world->find_task(parent, &known_run, &known_thread);

	if (!slice_present(run))
		run = known_run;
	if (!slice_present(run) && slice_present(native_run))
		run = translation_derive(t, "run", "run", SLICE_NONE, native_run);
	if (!slice_present(run))
		run = translation_context_id(t, "run_id", ID_RUN);
	if (!slice_present(run))
	{
		Slice		key = slice_present(native_parent) ? native_parent :
			slice_present(native_task) ? native_task : translation_key(t, place, &kind);

		run = translation_derive(t, "run", kind, SLICE_NONE, key);
	}

	if (!slice_present(thread) && slice_present(native_thread))
		thread = translation_thread_of(t, native_thread, known_thread);
	if (!slice_present(thread))
		thread = translation_context_id(t, "thread_id", ID_THREAD);
	if (!slice_present(thread))
		thread = known_thread;
	if (!slice_present(thread))
		thread = translation_derive(t, "thr", "run", SLICE_NONE, run);
	json_put_text(envelope, "/run_id", run);
	json_put_text(envelope, "/thread_id", thread);
}

/* ------------------------------------------------------- stubs and replies */

static Slice
translation_message_id(const Translation *t, const Json *envelope, const char *kind, Slice key)
{
	return translation_derive(t, "msg", kind, json_get_text(envelope, "/run_id"), key);
}

/*
 * Returns the event that a native ID stands for.  This is the stub; or else
 * the event that was made from the document with this ID; or else the event
 * that has this ID here, because it was written as a document without having
 * been foreign.  *was_sent says whether one of them exists.  If not, the ID
 * that the second one would have is returned.
 */
static Slice
translation_replied_to(const Translation *t, const Json *envelope, Slice native, bool *was_sent)
{
	Slice		run = json_get_text(envelope, "/run_id");
	Slice		stub = translation_message_id(t, envelope, "stub", native);
	Slice		event = translation_message_id(t, envelope, "id", native);

	*was_sent = true;
	if (t->world->was_sent(stub, run))
		return stub;
	if (t->world->was_sent(event, run))
		return event;
	if (t->world->may_see(native, run))
		return native;
	*was_sent = false;
	return event;
}

static void
translation_complete_reply(Translation *t, Json *envelope)
{
	Slice		native = translation_native(t, "reply_to");
	Slice		event;
	bool		was_sent;

	if (!slice_present(native) || json_get(envelope, "/meta/clutch/reply_to") != NULL)
		return;
	event = translation_replied_to(t, envelope, native, &was_sent);
	if (!was_sent && ((t->has_stub && slice_equal(native, t->stub_native)) || json_is_true(t->natives, "/stub")))
		event = translation_message_id(t, envelope, "stub", native);
	json_put_text(envelope, "/meta/clutch/reply_to", event);
}

/* Returns false for a stub if the envelope that it stands for has been sent, or the document makes another stub for it. */
static bool
translation_complete_id(Translation *t, Json *envelope, int place)
{
	bool		is_stub = adapter_is_stub(t->adapter, envelope);
	int			rank = t->ranks != NULL ? t->ranks[place] : 0;
	const char *kind;
	Slice		key;
	bool		was_sent = false;

	if (json_get(envelope, "/id") != NULL)
		return true;
	key = translation_key(t, place, &kind);
	if (is_stub)
	{
		(void) translation_replied_to(t, envelope, key, &was_sent);
		t->has_stub = !was_sent;
		t->stub_native = key;
		kind = "stub";
	}
	else if (rank > 0)
		kind = psprintf("%s %d", kind, rank + 1);
	json_put_text(envelope, "/id", translation_message_id(t, envelope, kind, key));
	return !was_sent && !(is_stub && rank > 0);
}

/* --------------------------------------------------- sender and recipients */

static void
translation_complete_sender(const Translation *t, Json *envelope)
{
	Slice		sender = json_get_text(envelope, "/from/agent_id");
	Slice		context = translation_context_id(t, "agent_id", ID_AGENT);

	if (slice_present(context) && slice_present(sender) && !slice_equal(context, sender))
	{
		adapter_note(t->adapter, envelope, "/native/from", json_of_text(sender));
		adapter_note(t->adapter, envelope, "/as", json_of_text(context));
	}
	if (slice_present(context) || !slice_present(sender))
		json_put_text(envelope, "/from/agent_id", slice_present(context) ? context : t->world->default_agent());
}

/*
 * Returns the agent that has requested the task, for a report, and the
 * orchestrator otherwise.
 */
static Slice
translation_default_recipient(const Translation *t, const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	Slice		requester = SLICE_NONE;

	if (type == MSG_TASK_PROGRESS || type == MSG_TASK_RESULT || type == MSG_TASK_ERROR)
		requester = t->world->find_requester(json_get_text(envelope, "/task_id"));
	return slice_present(requester) ? requester : slice_of_cstring(clutch_orchestrator);
}

static void
translation_complete_recipients(const Translation *t, Json *envelope)
{
	Json	   *recipients;

	if (adapter_member(envelope, "/to") != NULL)
		return;
	recipients = translation_context_recipients(t);
	if (recipients->n == 0)
		adapter_add_recipient(recipients, translation_default_recipient(t, envelope));
	json_put(envelope, "/to", recipients);
}

/* ----------------------------------------------------------------- all of it */

void
translation_complete_place(Translation *t, Json *envelope, int place)
{
	t->natives = adapter_noted(t->adapter, envelope, "/native");
	translation_complete_tasks(t, envelope, place);
	translation_complete_run(t, envelope, place);
}

static void
translation_inherit_field(const Translation *t, Json *envelope, const char *field, const Json *bearer)
{
	Slice		key = slice_of_cstring(field);

	if (json_member(envelope, key) == NULL && !slice_present(translation_native(t, field)))
		json_put_member(envelope, key, json_member(bearer, key));
}

/*
 * Gives an envelope the run, thread and task of "bearer", which has all of
 * them, as far as it names none itself.
 */
static void
translation_inherit(Translation *t, Json *envelope, const Json *bearer)
{
	bool		same_task;

	t->natives = adapter_noted(t->adapter, envelope, "/native");
	same_task = json_get(envelope, "/task_id") == NULL && !slice_present(translation_native(t, "task_id"));
	translation_inherit_field(t, envelope, "run_id", bearer);
	translation_inherit_field(t, envelope, "thread_id", bearer);
	translation_inherit_field(t, envelope, "task_id", bearer);
	if (same_task)
		translation_inherit_field(t, envelope, "parent_task_id", bearer);
}

void
translation_complete_places(Translation *t, List *envelopes, Json *bearer, const Json *plain)
{
	ListCell   *lc;

	foreach(lc, envelopes)
		if (lfirst(lc) == plain)
		{
			lfirst(lc) = bearer;
			translation_complete_place(t, bearer, foreach_current_index(lc));
		}
	foreach(lc, envelopes)
		if (lfirst(lc) != bearer)
		{
			translation_inherit(t, lfirst(lc), bearer);
			translation_complete_place(t, lfirst(lc), foreach_current_index(lc));
		}
	if (list_length(envelopes) > 1)
		translation_rank(t, envelopes);
}

bool
translation_complete(Translation *t, Json *envelope, int place)
{
	t->natives = adapter_noted(t->adapter, envelope, "/native");
	if (!translation_complete_id(t, envelope, place))
		return false;
	translation_complete_reply(t, envelope);
	translation_complete_sender(t, envelope);
	translation_complete_recipients(t, envelope);
	if (json_get(envelope, "/v") == NULL)
		json_put_cstring(envelope, "/v", CLUTCH_PROTOCOL);
	if (json_get(envelope, "/ts") == NULL)
		json_put_cstring(envelope, "/ts", clock_rfc3339(t->world->now));
	if (json_get(envelope, "/payload") == NULL)
		json_put(envelope, "/payload", json_new_object());
	return true;
}
