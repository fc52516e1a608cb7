/*-------------------------------------------------------------------------
 *
 * adapter_fn.c
 *	  The SQL functions can_handle, inbound, outbound and ingest.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog.h"
#include "adapters/translation.h"
#include "api/blob.h"
#include "api/result.h"
#include "api/visible.h"
#include "base/clock.h"
#include "miscadmin.h"
#include "protocol/limits.h"
#include "protocol/place.h"
#include "settings.h"
#include "trust/principal.h"
#include "trust/secret.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(clutch_can_handle);
PG_FUNCTION_INFO_V1(clutch_inbound);
PG_FUNCTION_INFO_V1(clutch_outbound);
PG_FUNCTION_INFO_V1(clutch_ingest);

/* ------------------------------------------------------------ the adapters */

static Adapter *
adapter_named(Slice name)
{
	Adapter    *adapter = catalog_find(name);
	StringInfoData names;
	ListCell   *lc;

	if (adapter != NULL)
		return adapter;
	initStringInfo(&names);
	foreach(lc, catalog_list())
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", ((Adapter *) lfirst(lc))->name);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem("adapter", "WRONG_VALUE"),
			 errmsg("adapter %s does not exist", place_quote(name)),
			 errhint("There are %s.", names.data)));
}

/* the first that handles the document; NULL: none, and the reasons have been appended */
static Adapter *
adapter_that_handles(const Json *raw, List *adapters, StringInfo reasons)
{
	ListCell   *lc;

	foreach(lc, adapters)
	{
		Adapter    *adapter = lfirst(lc);
		const char *reason = adapter->declines(adapter, raw);

		if (reason == NULL)
			return adapter;
		appendStringInfo(reasons, "%s%s: %s", reasons->len > 0 ? "; " : "", adapter->name, reason);
	}
	return NULL;
}

Datum
clutch_can_handle(PG_FUNCTION_ARGS)
{
	Json	   *raw = json_read(argument_jsonb(fcinfo, 0, "raw"));
	StringInfoData reasons;
	Adapter    *adapter;

	initStringInfo(&reasons);
	adapter = adapter_that_handles(raw, catalog_list(), &reasons);
	if (adapter == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(adapter->name));
}

/* --------------------------------------------------------------- the world */

/*
 * What the call that is at work has made so far, since a stub need not be made twice: the
 * IDs of the envelopes, by their hash.  NULL: nothing.
 */
static HTAB *adapter_made;

typedef struct MadeEnvelope
{
	uint64		hash;			/* of its ID and run */
	List	   *ids;			/* Slice *: of each of that hash its ID, and then its run */
} MadeEnvelope;

static uint64
adapter_made_hash(Slice id, Slice run_id)
{
	return slice_hash(id) ^ (slice_hash(run_id) * UINT64CONST(0x9E3779B97F4A7C15));
}

static bool
adapter_was_made(Slice id, Slice run_id)
{
	uint64		hash = adapter_made_hash(id, run_id);
	MadeEnvelope *made = adapter_made == NULL ? NULL : hash_search(adapter_made, &hash, HASH_FIND, NULL);

	for (int i = 0; made != NULL && i < list_length(made->ids); i += 2)
		if (slice_equal(*(Slice *) list_nth(made->ids, i), id) &&
			slice_equal(*(Slice *) list_nth(made->ids, i + 1), run_id))
			return true;
	return false;
}

/* in the given memory context, which is that of the call */
static void
adapter_note_made(const Json *envelope, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Slice		id = json_get_text(envelope, "/id");
	Slice		run_id = json_get_text(envelope, "/run_id");
	uint64		hash = adapter_made_hash(id, run_id);
	MadeEnvelope *made;
	bool		found;

	if (adapter_made == NULL)
	{
		HASHCTL		info = {.keysize = sizeof(uint64), .entrysize = sizeof(MadeEnvelope), .hcxt = context};

		adapter_made = hash_create("clutch envelopes of a call", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	made = hash_search(adapter_made, &hash, HASH_ENTER, &found);
	if (!found)
		made->ids = NIL;
	made->ids = slice_list_add(slice_list_add(made->ids, id), run_id);
	MemoryContextSwitchTo(old);
}

static Slice
adapter_default_agent(void)
{
	SliceList	agents;

	if (principal_is_operator(principal_role()))
		return slice_of_cstring(clutch_orchestrator);
	agents = principal_agents();
	if (agents.n != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("context", "NOT_YOUR_AGENT"),
				 errmsg(agents.n == 0 ? "role \"%s\" speaks for no agent" : "role \"%s\" speaks for several agents",
						GetUserNameFromId(principal_role(), false)),
				 errhint(agents.n == 0 ? "Let an operator run SELECT clutch.grant_agent(role_name, agent_id)." :
						 "Name the sender in the context: {\"agent_id\": \"agent:...\"}.")));
	return agents.items[0];
}

/* its place in the log; 0: it is not there */
static int64
adapter_find_event(Slice id, Slice run_id)
{
	RowScan		scan;
	int64		seq = 0;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_PKEY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
		seq = rows_int8(&scan, Anum_event_seq);
	rows_end(&scan);
	return seq;
}

static bool
adapter_was_sent(Slice id, Slice run_id)
{
	return adapter_was_made(id, run_id) || adapter_find_event(id, run_id) != 0;
}

static bool
adapter_may_see(Slice id, Slice run_id)
{
	int64		seq = id.len <= clutch_limits.max_id_bytes ? adapter_find_event(id, run_id) : 0;

	return seq != 0 && visible_event(seq);
}

static bool
adapter_find_task(Slice task_id, Slice *run_id, Slice *thread_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	if (task == NULL || !visible_task(task))
		return false;
	*run_id = task->run_id;
	*thread_id = task->thread_id;
	return true;
}

static Slice
adapter_find_requester(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);

	return task != NULL && visible_task(task) ? task->from_agent : SLICE_NONE;
}

/*
 * Those who act in one realm derive the same IDs from the same document: all who speak
 * for the agent that the context names, or all operators, or the members of one role.
 */
static Slice
adapter_realm(const Json *context)
{
	Slice		agent = json_get_text(context, "/agent_id");

	if (slice_present(agent))
	{
		principal_require(agent, "context");
		return slice_of_cstring(psprintf("agent %.*s", agent.len, agent.s));
	}
	if (principal_is_operator(principal_role()))
		return SLICE_OF("operators");
	return slice_of_cstring(psprintf("role %s", GetUserNameFromId(principal_role(), false)));
}

static TranslationWorld
adapter_world(const Json *context)
{
	TranslationWorld world = {
		.now = clock_now(),
		.secret = secret_get(),
		.realm = adapter_realm(context),
		.default_agent = adapter_default_agent,
		.was_sent = adapter_was_sent,
		.may_see = adapter_may_see,
		.find_requester = adapter_find_requester,
		.find_task = adapter_find_task
	};

	return world;
}

/* ------------------------------------------------------------------ inbound */

/* A call of inbound or ingest: its arguments, and what becomes of an envelope. */
typedef struct InboundCall
{
	FunctionCallInfo fcinfo;
	Slice		name;			/* of the adapter; absent: the first that handles the document */
	List	   *adapters;		/* which are asked */
	Json	   *context;
	List	   *blobs;			/* references to the artifacts that were made of the document */
	TranslationWorld world;
	MemoryContext context_of_call;	/* where that is, and what was made */
	void		(*take) (FunctionCallInfo fcinfo, Jsonb *envelope);
} InboundCall;

pg_noreturn static void
adapter_raise_not_handled(const InboundCall *call, const char *base, const char *reasons)
{
	if (slice_present(call->name))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_NOT_HANDLED),
				 errproblem(base, "NOT_HANDLED"),
				 errmsg("the document is not one of adapter %s", reasons)));
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_NOT_HANDLED),
			 errproblem(base, "NOT_HANDLED"),
			 errmsg("no adapter handles the document"),
			 errhint("Each of them was asked. %s.", reasons)));
}

/* A member that is misspelt would be passed over, and the document taken in the name of somebody else. */
static void
adapter_check_context(const Adapter *adapter, const Json *context)
{
	static const char *const members[] = {
		"agent_id", "to", "run_id", "thread_id", "task_id", "parent_task_id", "server", "session", "seq", "stream", "interrupted", "artifacts_from"
	};

	for (int i = 0; adapter->inbound_function == NULL && i < context->n; i++)
	{
		bool		is_known = false;

		for (int m = 0; m < lengthof(members); m++)
			is_known = is_known || slice_equal(context->keys[i], slice_of_cstring(members[m]));
		if (!is_known)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errproblem("context", "UNKNOWN_FIELD"),
					 errmsg("invalid member %s of the context", place_quote(context->keys[i])),
					 errhint("A context has agent_id, to, run_id, thread_id, task_id, parent_task_id, server, session, seq, stream, interrupted and artifacts_from.")));
	}
}

static void
adapter_take_envelopes(InboundCall *call, const Adapter *adapter, Json *raw)
{
	static const ProblemArgument places[] = {{"", "raw"}, {NULL}};
	ProblemArguments scope;
	List	   *envelopes;
	ListCell   *lc;

	adapter_check_context(adapter, call->context);
	problem_arguments_begin(&scope, places);
	envelopes = translation_inbound(adapter, raw, call->context, &call->world);
	problem_arguments_end(&scope);
	foreach(lc, envelopes)
	{
		adapter_note_made(lfirst(lc), call->context_of_call);
		blob_mark(lfirst(lc), adapter->name, call->blobs);
		call->take(call->fcinfo, json_write(lfirst(lc)));
	}
}

static void adapter_take_document(InboundCall *call, Json *raw, const char *base);

/* What the translation of one document leaves behind is gone before the next. */
static void
adapter_take_batch(InboundCall *call, const Json *raw)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch document of a batch", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	for (int i = 0; i < raw->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		adapter_take_document(call, raw->items[i], psprintf("/%d", i));
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * An array that no adapter handles as a whole is a batch of documents, each of which is
 * handled before the next.
 */
static void
adapter_take_document(InboundCall *call, Json *raw, const char *base)
{
	static const ProblemArgument places[] = {{"", "raw"}, {NULL}};
	ProblemArguments scope;
	StringInfoData reasons;
	Adapter    *adapter;

	initStringInfo(&reasons);
	adapter = adapter_that_handles(raw, call->adapters, &reasons);
	if (adapter != NULL)
	{
		adapter->base = base;
		adapter_take_envelopes(call, adapter, raw);
	}
	else if (base[0] == '\0' && json_is(raw, JSON_ARRAY) && raw->n > 0)
		adapter_take_batch(call, raw);
	else
	{
		problem_arguments_begin(&scope, places);
		adapter_raise_not_handled(call, base, reasons.data);
	}
}

/* A document is held to the limits of an envelope, since most of it will be in one. */
static void
adapter_check_limits(Jsonb *raw, const Limits *limits)
{
	static const ProblemArgument places[] = {{"", "raw"}, {NULL}};
	ProblemList *list = problem_list();
	ProblemArguments scope;

	list->limits = limits;
	limits_check(raw, list);
	if (list->n > 0)
	{
		problem_arguments_begin(&scope, places);
		problem_raise(list, ERRCODE_CLUTCH_FOREIGN_INVALID, "document");
	}
}

/* With artifacts, only what is left of the document must be as small as an envelope. */
static Json *
adapter_read_document(FunctionCallInfo fcinfo, int64 blobs_from, List **blobs)
{
	Jsonb	   *raw = argument_jsonb(fcinfo, 0, "raw");
	Limits		limits = clutch_limits;
	Json	   *document;

	*blobs = NIL;
	if (blobs_from > 0)
		limits.max_envelope_bytes = PG_INT32_MAX;
	adapter_check_limits(raw, &limits);
	document = json_read(raw);
	if (blobs_from == 0)
		return document;
	*blobs = blob_keep(document, blobs_from);
	adapter_check_limits(json_write(document), &clutch_limits);
	return document;
}

static void
adapter_send(FunctionCallInfo fcinfo, Jsonb *envelope)
{
	result_put_receipt(fcinfo, event_send(envelope));
}

static Datum
adapter_call(FunctionCallInfo fcinfo, void (*take) (FunctionCallInfo fcinfo, Jsonb *envelope))
{
	Json	   *raw;
	InboundCall call = {.fcinfo = fcinfo, .name = argument_optional_text(fcinfo, 1), .take = take};
	HTAB	   *outer;

	call.context_of_call = CurrentMemoryContext;
	call.context = PG_ARGISNULL(2) ? json_new_object() : json_read(PG_GETARG_JSONB_P(2));
	if (call.context->kind != JSON_OBJECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("context", "WRONG_TYPE"),
				 errmsg("argument \"context\" must be an object")));
	/* what is not sent leaves nothing behind */
	raw = adapter_read_document(fcinfo, take == adapter_send ? blob_from_bytes(call.context) : 0, &call.blobs);
	if (slice_present(call.name))
	{
		Adapter    *adapter = adapter_named(call.name);

		adapter->named = true;
		call.adapters = list_make1(adapter);
	}
	else
		call.adapters = catalog_list();
	call.world = adapter_world(call.context);
	result_begin_rows(fcinfo);
	/* a function of a user's adapter, or a trigger, may call ingest while another call is at work */
	outer = adapter_made;
	adapter_made = NULL;
	PG_TRY();
	{
		adapter_take_document(&call, raw, "");
	}
	PG_FINALLY();
	{
		adapter_made = outer;
	}
	PG_END_TRY();
	return (Datum) 0;
}

static void
adapter_return(FunctionCallInfo fcinfo, Jsonb *document)
{
	ProblemList *list = problem_list();
	Envelope	envelope;
	Datum		value = JsonbPGetDatum(document);
	bool		isnull = false;

	envelope_read(document, &envelope, list);
	envelope_refuse_internal(&envelope, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_FOREIGN_INVALID, "the envelope that the document makes");
	result_put_row(fcinfo, &value, &isnull);
}

Datum
clutch_inbound(PG_FUNCTION_ARGS)
{
	return adapter_call(fcinfo, adapter_return);
}

Datum
clutch_ingest(PG_FUNCTION_ARGS)
{
	return adapter_call(fcinfo, adapter_send);
}

/* ----------------------------------------------------------------- outbound */

Datum
clutch_outbound(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "envelope");
	Adapter    *adapter = adapter_named(argument_text(fcinfo, 1, "adapter"));
	ProblemList *list = problem_list_admitted();
	Envelope	envelope;
	Json	   *tree;
	Json	   *made;
	List	   *blobs;

	envelope_read_admitted(document, &envelope, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	tree = json_read(document);
	blobs = blob_unmark(tree, adapter->name);
	made = translation_outbound(adapter, tree);
	blob_restore(made, blobs, 0);
	PG_RETURN_JSONB_P(json_write(made));
}
