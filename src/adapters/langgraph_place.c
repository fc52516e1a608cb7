/*-------------------------------------------------------------------------
 *
 * langgraph_place.c
 *	  LangGraph: where in a run something happened.
 *
 * All events of a run carry the metadata of the run.  Therefore, a request for
 * a run that was made from an envelope has the IDs of this database in its
 * metadata (clutch_task, clutch_run, clutch_thread), and the events of the run
 * are assigned to the task of that envelope.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/langgraph_part.h"

/* identifiers of this database that the metadata may have */
static const struct
{
	const char *foreign;
	const char *field;
	IdentifierKind kind;
}			langgraph_own[] = {
	{"/clutch_run", "/run_id", ID_RUN},
	{"/clutch_thread", "/thread_id", ID_THREAD},
	{"/clutch_task", "/task_id", ID_TASK},
	{"/clutch_parent", "/parent_task_id", ID_TASK}
};

bool
langgraph_has_task(const Json *context)
{
	return adapter_member(context, "/task_id") != NULL;
}

void
langgraph_put_recipient(Json *envelope, const Json *context, Slice agent_id)
{
	Slice		sender = json_get_text(context, "/agent_id");

	if (adapter_member(context, "/to") == NULL)
		adapter_put_recipient(envelope, slice_present(sender) ? sender : agent_id);
}

void
langgraph_note_seq(const Adapter *self, Json *envelope, const Json *context, Slice of)
{
	int64		seq;

	if (json_get_int(context, "/seq", &seq))
		adapter_note_native(self, envelope, "id",
							json_of_cstring(psprintf("%.*s/" INT64_FORMAT, of.len, slice_present(of) ? of.s : "", seq)));
}

/* Returns the place after the last such byte, or 0 if there is none. */
static int
langgraph_after_last(Slice text, char byte)
{
	int			place = text.len;

	while (place > 0 && text.s[place - 1] != byte)
		place--;
	return place;
}

/*
 * Returns the task of the innermost node of a namespace, which is
 * "outer:<task>|inner:<task>", or an absent slice if it names none.
 */
static Slice
langgraph_inner_task(Slice ns)
{
	int			task = langgraph_after_last(ns, ':');

	return task > langgraph_after_last(ns, '|') && task < ns.len ? slice_after(ns, task) : SLICE_NONE;
}

/* The same for the node that contains the innermost one. */
static Slice
langgraph_containing_task(Slice ns)
{
	int			inner = langgraph_after_last(ns, '|');

	return inner > 0 ? langgraph_inner_task((Slice) {ns.s, inner - 1}) : SLICE_NONE;
}

Slice
langgraph_outer_task(const LanggraphChunk *chunk)
{
	const char *bar = slice_present(chunk->mode) ? memchr(chunk->mode.s, '|', chunk->mode.len) : NULL;
	const Json *last = json_is(chunk->ns, JSON_ARRAY) && chunk->ns->n > 0 ? chunk->ns->items[chunk->ns->n - 1] : NULL;

	if (bar != NULL)
		return langgraph_inner_task((Slice) {bar + 1, chunk->mode.s + chunk->mode.len - bar - 1});
	return json_is(last, JSON_TEXT) ? langgraph_inner_task(last->text) : SLICE_NONE;
}

Slice
langgraph_node_task(const Json *metadata)
{
	Slice		ns = json_get_text(metadata, "/langgraph_checkpoint_ns");

	return slice_present(ns) ? langgraph_inner_task(ns) : SLICE_NONE;
}

void
langgraph_read_own(const Adapter *self, const Json *metadata, Json *envelope, bool is_of_node)
{
	/*
	 * the parent of a node in a subgraph is the node that runs the subgraph,
	 * not the run
	 */
	Slice		ns = json_get_text(metadata, "/langgraph_checkpoint_ns");
	bool		is_nested = is_of_node && slice_present(ns) && slice_present(langgraph_containing_task(ns));

	for (int i = 0; i < lengthof(langgraph_own); i++)
	{
		Slice		text = adapter_find_word(self, metadata, langgraph_own[i].foreign);
		bool		is_task = strcmp(langgraph_own[i].foreign, "/clutch_task") == 0;

		if (!slice_present(text))
			continue;
		adapter_check_identifier(self, langgraph_own[i].foreign, langgraph_own[i].kind, text);
		if (is_nested && langgraph_own[i].kind == ID_TASK)
			continue;
		adapter_note(self, envelope, psprintf("/own%s", langgraph_own[i].foreign), json_of_bool(true));
		if (!is_of_node || langgraph_own[i].kind != ID_TASK)
			json_put_text(envelope, langgraph_own[i].field, text);
		else if (is_task)
		{
			json_put_text(envelope, "/parent_task_id", text);
			adapter_note(self, envelope, "/own/is_parent", json_of_bool(true));
		}
	}
}

void
langgraph_write_own(const Adapter *self, const Json *envelope, Json *metadata)
{
	bool		foreign = adapter_was_foreign(self, envelope);
	bool		is_parent = json_is_true(adapter_noted(self, envelope, "/own"), "/is_parent");

	for (int i = 0; i < lengthof(langgraph_own); i++)
	{
		const char *field = langgraph_own[i].field;

		if (foreign && adapter_noted(self, envelope, psprintf("/own%s", langgraph_own[i].foreign)) == NULL)
			continue;
		if (is_parent && langgraph_own[i].kind == ID_TASK)
			field = strcmp(field, "/task_id") == 0 ? "/parent_task_id" : NULL;
		if (field != NULL)
			json_put(metadata, langgraph_own[i].foreign, adapter_member(envelope, field));
	}
}

/*
 * Notes the native IDs of the run and the thread, unless the context names a
 * task, which then determines them.
 */
static void
langgraph_read_run_ids(const Adapter *self, const Json *metadata, Json *envelope, const Json *context, Json *root)
{
	Json	   *thread = adapter_find_name(self, metadata, "/thread_id");
	Json	   *run = root != NULL ? root : adapter_find_name(self, metadata, "/run_id");

	adapter_note(self, envelope, "/thread", thread);
	adapter_note(self, envelope, "/graph_run", adapter_member(metadata, "/run_id"));
	if (langgraph_has_task(context) || adapter_member(context, "/run_id") != NULL)
		return;
	adapter_note_native(self, envelope, "thread_id", thread);
	adapter_note_native(self, envelope, "run_id", run != NULL ? run : thread);
}

void
langgraph_read_place(const Adapter *self, const Json *metadata, Json *envelope, const Json *context,
					 Json *root, bool begins)
{
	Slice		ns = adapter_find_word(self, metadata, "/langgraph_checkpoint_ns");
	Slice		task = begins ? SLICE_NONE : langgraph_node_task(metadata);
	Slice		outer = slice_present(ns) ? langgraph_containing_task(ns) : SLICE_NONE;
	Json	   *run = root != NULL ? root : adapter_find_name(self, metadata, "/run_id");

	json_put_text(envelope, "/from/agent_id", adapter_find_agent(self, metadata, "/langgraph_node"));
	adapter_note(self, envelope, "/step", adapter_member(metadata, "/langgraph_step"));
	adapter_note(self, envelope, "/checkpoint", adapter_member(metadata, "/checkpoint_id"));
	adapter_note(self, envelope, "/checkpoint_ns", slice_present(ns) ? json_of_text(ns) : NULL);
	langgraph_read_run_ids(self, metadata, envelope, context, root);
	langgraph_read_own(self, metadata, envelope, slice_present(task));
	if (!slice_present(task))
	{
		if (json_get(envelope, "/task_id") == NULL && !langgraph_has_task(context))
			adapter_note_native(self, envelope, "task_id", run);
		return;
	}
	adapter_note_native(self, envelope, "task_id", json_of_text(task));
	if (slice_present(outer))
		adapter_note_native(self, envelope, "parent_task_id", json_of_text(outer));
	else if (langgraph_has_task(context))
		json_put(envelope, "/parent_task_id", json_get(context, "/task_id"));
	else
		adapter_note_native(self, envelope, "parent_task_id", run);
}

/*
 * Returns the namespace, with the task in it replaced by the current task of
 * the event.
 */
static Json *
langgraph_ns_of(const Adapter *self, const Json *envelope)
{
	Json	   *noted = adapter_noted(self, envelope, "/checkpoint_ns");
	Slice		task = json_get_text(adapter_noted(self, envelope, "/native"), "/task_id");
	Slice		was = json_is(noted, JSON_TEXT) ? langgraph_inner_task(noted->text) : SLICE_NONE;

	if (!slice_present(was) || !slice_present(task) || json_is_true(adapter_noted(self, envelope, ""), "/begins"))
		return noted;
	return json_of_cstring(psprintf("%.*s%.*s", (int) (was.s - noted->text.s), noted->text.s, task.len, task.s));
}

void
langgraph_write_place(const Adapter *self, const Json *envelope, Json *metadata)
{
	bool		foreign = adapter_was_foreign(self, envelope);
	Slice		agent = json_get_text(envelope, "/from/agent_id");

	json_put(metadata, "/thread_id", foreign ? adapter_noted(self, envelope, "/thread") : adapter_member(envelope, "/thread_id"));
	if (slice_present(agent) && !json_is_true(adapter_noted(self, envelope, ""), "/begins"))
		json_put_text(metadata, "/langgraph_node", adapter_agent_name(agent));
	json_put(metadata, "/run_id", adapter_noted(self, envelope, "/graph_run"));
	json_put(metadata, "/langgraph_step", adapter_noted(self, envelope, "/step"));
	json_put(metadata, "/checkpoint_id", adapter_noted(self, envelope, "/checkpoint"));
	json_put(metadata, "/langgraph_checkpoint_ns", langgraph_ns_of(self, envelope));
	langgraph_write_own(self, envelope, metadata);
}
