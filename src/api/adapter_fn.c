/*-------------------------------------------------------------------------
 *
 * adapter_fn.c
 *	  The SQL functions can_handle, inbound and ingest.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog.h"
#include "api/blob.h"
#include "api/result.h"
#include "api/world.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "trust/principal.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(clutch_can_handle);
PG_FUNCTION_INFO_V1(clutch_inbound);
PG_FUNCTION_INFO_V1(clutch_ingest);

/*
 * Returns why the adapter does not handle the document, or NULL if it does.
 * The attributes of a CloudEvent may have the names of any other dialect, but
 * no other dialect has "specversion".
 */
static const char *
adapter_reason_against(const Adapter *adapter, const Json *raw)
{
	if (adapter->inbound_function == NULL && !adapter->reads_events && json_has_text(raw, "/specversion"))
		return "its specversion says that it is a CloudEvent";
	return adapter->declines(adapter, raw);
}

/*
 * Returns the first adapter that handles the document.  If none does, returns
 * NULL; *reasons lists why (const char *), one for each adapter.
 */
static Adapter *
adapter_that_handles(const Json *raw, List *adapters, List **reasons)
{
	ListCell   *lc;

	foreach(lc, adapters)
	{
		Adapter    *adapter = lfirst(lc);
		const char *reason = adapter_reason_against(adapter, raw);

		if (reason == NULL)
			return adapter;
		*reasons = lappend(*reasons, unconstify(char *, reason));
	}
	return NULL;
}

Datum
clutch_can_handle(PG_FUNCTION_ARGS)
{
	Jsonb	   *raw = argument_jsonb(fcinfo, 0, "raw");
	Limits		limits = clutch_limits;
	List	   *reasons = NIL;
	Adapter    *adapter;

	/*
	 * clutch.ingest accepts larger documents, and turns some of their content
	 * into artifacts
	 */
	limits.max_envelope_bytes = PG_INT32_MAX;
	argument_check_limits(raw, "raw", &limits);
	adapter = adapter_that_handles(json_read(raw), catalog_list(), &reasons);
	if (adapter == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(adapter->name));
}

/* ------------------------------------------------------------------ inbound */

/* a call of inbound or ingest */
typedef struct InboundCall
{
	FunctionCallInfo fcinfo;
	Slice		name;			/* name of the adapter; absent for the first
								 * one that handles the document */
	List	   *adapters;		/* the adapters to ask (Adapter *), in this
								 * order */
	Json	   *context;
	List	   *blobs;			/* the artifacts made from parts of the
								 * document (Slice *) */
	TranslationWorld world;
	void		(*take) (FunctionCallInfo fcinfo, Jsonb *envelope);	/* sends or returns an envelope */
} InboundCall;

/*
 * Some drivers, when given the text of a document and told that it is JSON,
 * encode it as a JSON string.
 */
#define HINT_OF_STRING	" The document is a JSON string; if an object was encoded twice, pass the object itself."

pg_noreturn static void
adapter_raise_not_handled(const InboundCall *call, const Json *raw, const char *base, const List *reasons)
{
	const char *string = json_is(raw, JSON_TEXT) ? HINT_OF_STRING : "";
	StringInfoData all;
	ListCell   *adapter;
	ListCell   *reason;

	initStringInfo(&all);
	forboth(adapter, call->adapters, reason, reasons)
		appendStringInfo(&all, "%s%s: %s", all.len > 0 ? "; " : "", ((Adapter *) lfirst(adapter))->name,
						 (char *) lfirst(reason));
	if (slice_present(call->name))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_NOT_HANDLED),
				 errproblem(base, "NOT_HANDLED"),
				 errmsg("the document is not for adapter %s", all.data),
				 errhint("Without the name of an adapter, the first one that handles the document is used.%s", string)));
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_NOT_HANDLED),
			 errproblem(base, "NOT_HANDLED"),
			 errmsg("no adapter handles the document"),
			 errhint("Each of them was asked. %s.%s", all.data, string)));
}

/*
 * All members of a context that the built-in adapters use.  Members that only
 * some of them use are checked here, too, because another adapter, or another
 * document, would ignore them.
 */
static const struct
{
	const char *name;
	JsonKind	kind;
	const char *requirement;	/* NULL if the adapter that reads it checks it */
}			context_members[] = {
	{"agent_id"}, {"to"}, {"run_id"}, {"thread_id"}, {"task_id"}, {"parent_task_id"},
	{"server", JSON_TEXT, "a text that is not empty"},
	{"session", JSON_TEXT, "a text that is not empty"},
	{"seq", JSON_NUMBER, "a whole number"},
	{"stream", JSON_BOOL, "true or false"},
	{"interrupted", JSON_BOOL, "true or false"},
	{"artifacts_from"}
};

/*
 * Is the value of the right kind for the member?  null counts as a missing
 * member.
 */
static bool
context_value_fits(int member, const Json *value)
{
	int64		number;

	if (context_members[member].requirement == NULL || json_is(value, JSON_NULL))
		return true;
	if (!json_is(value, context_members[member].kind))
		return false;
	return json_is(value, JSON_TEXT) ? value->text.len > 0 :
		json_is(value, JSON_NUMBER) ? json_get_int(value, "", &number) : true;
}

/* Returns the place of a member in the table, or -1 if it is not there. */
static int
find_context_member(Slice key)
{
	for (int i = 0; i < lengthof(context_members); i++)
		if (slice_is(key, context_members[i].name))
			return i;
	return -1;
}

/* Returns a list as in "a, b and c". */
static char *
list_context_members(void)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < lengthof(context_members); i++)
		appendStringInfo(&list, "%s%s", i == 0 ? "" : i == lengthof(context_members) - 1 ? " and " : ", ",
						 context_members[i].name);
	return list.data;
}

/*
 * Raises an error for unknown members.  If a misspelt "agent_id" were ignored,
 * another agent would become the sender, and if a numeric session were
 * ignored, its documents would be taken for those of another session.
 * User-defined adapters may have members of their own.
 */
static void
adapter_check_context(const Adapter *adapter, const Json *context)
{
	if (adapter->inbound_function != NULL)
		return;
	for (int i = 0; i < context->n; i++)
	{
		int			member = find_context_member(context->keys[i]);

		if (member < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errproblem("context", "UNKNOWN_FIELD"),
					 errmsg("invalid member %s of the context", place_quote(context->keys[i])),
					 errhint("The members of a context are %s.", list_context_members())));
		if (!context_value_fits(member, context->items[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errproblem("context", "WRONG_TYPE"),
					 errmsg("invalid member \"%s\" of the context: must be %s", context_members[member].name,
							context_members[member].requirement)));
	}
}

/* what may be wrong with an envelope that is sent, but not with the document */
typedef struct SendingAdvice
{
	bool		lacks_session;	/* the context names none, although it could */
	bool		is_of_stranger; /* the role does not speak for the sender, who
								 * has not signed */
	bool		is_of_system;	/* it is a chat.system, which the role may not
								 * send */
} SendingAdvice;

/*
 * Replaces the hint of an error about the envelope, which the caller has never
 * seen, by one about the document.
 */
static void
adapter_advise(void *arg)
{
	const SendingAdvice *advice = arg;

	if (geterrcode() == ERRCODE_INSUFFICIENT_PRIVILEGE && advice->is_of_stranger)
		errhint(PRINCIPAL_HINT_GRANT " To ingest a document of another sender, name an agent of the role as the agent_id of the context.");
	else if (geterrcode() == ERRCODE_INSUFFICIENT_PRIVILEGE && advice->is_of_system)
		errhint("If the document only asks for something, like \"tools/list\" or \"GetTask\", answer it in the program that has received it. " PRINCIPAL_HINT_BROADCAST);
	else if (geterrcode() == ERRCODE_UNIQUE_VIOLATION && advice->lacks_session)
		errhint("A document that is sent again must be unchanged. If the other one came in another session, name the sessions in the context: {\"session\": \"a text of this session\"}.");
}

static bool
is_of_stranger(const Json *envelope)
{
	Slice		sender = json_get_text(envelope, "/from/agent_id");

	return slice_present(sender) && json_get(envelope, "/security/auth") == NULL && !principal_speaks_for(sender);
}

static bool
is_of_system(const Json *envelope)
{
	return slice_is(json_get_text(envelope, "/type"), "chat.system") &&
		!principal_may_broadcast(json_get_text(envelope, "/from/agent_id"), GRANT_OF_ROLE);
}

static void
adapter_take_envelopes(InboundCall *call, const Adapter *adapter, Json *raw)
{
	static const ProblemArgument places[] = {{"", "raw"}, {NULL}};
	ProblemArguments scope;
	SendingAdvice advice = {.lacks_session = adapter->has_sessions && json_member(call->context, SLICE_OF("session")) == NULL};
	ErrorContextCallback context = {.previous = error_context_stack, .callback = adapter_advise, .arg = &advice};
	List	   *envelopes;
	ListCell   *lc;

	adapter_check_context(adapter, call->context);
	problem_arguments_begin(&scope, places);
	envelopes = translation_inbound(adapter, raw, call->context, &call->world);
	problem_arguments_end(&scope);
	error_context_stack = &context;
	foreach(lc, envelopes)
	{
		world_note_made(lfirst(lc));
		blob_mark(lfirst(lc), adapter->name, call->blobs);
		advice.is_of_stranger = is_of_stranger(lfirst(lc));
		advice.is_of_system = is_of_system(lfirst(lc));
		call->take(call->fcinfo, json_write(lfirst(lc)));
	}
	error_context_stack = context.previous;
}

static void adapter_take_document(InboundCall *call, Json *raw, const char *base);

/*
 * Takes a batch.  The memory used for one document is freed before the next
 * one is translated.
 */
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
 * Takes a document.  An array that no adapter handles as a whole is a batch of
 * documents, which are taken one after the other.  "base" is the path of the
 * document in the argument.
 */
static void
adapter_take_document(InboundCall *call, Json *raw, const char *base)
{
	static const ProblemArgument places[] = {{"", "raw"}, {NULL}};
	ProblemArguments scope;
	List	   *reasons = NIL;
	Adapter    *adapter = adapter_that_handles(raw, call->adapters, &reasons);

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
		adapter_raise_not_handled(call, raw, base, reasons);
	}
}

/*
 * Reads the document argument into a tree.  If blobs_from is not 0, base64 of
 * at least that many bytes becomes artifacts, and only what remains of the
 * document must obey the size limit.
 */
static Json *
adapter_read_document(FunctionCallInfo fcinfo, int64 blobs_from, List **blobs)
{
	Jsonb	   *raw = argument_jsonb(fcinfo, 0, "raw");
	Limits		limits = clutch_limits;
	Json	   *document;

	*blobs = NIL;
	if (blobs_from > 0)
		limits.max_envelope_bytes = PG_INT32_MAX;
	argument_check_limits(raw, "raw", &limits);
	document = json_read(raw);
	if (blobs_from == 0)
		return document;
	*blobs = blob_keep(document, blobs_from);
	argument_check_limits(json_write(document), "raw", &clutch_limits);
	return document;
}

static void
adapter_send(FunctionCallInfo fcinfo, Jsonb *envelope)
{
	result_put_receipt(fcinfo, event_send(envelope));
}

/* What the call remembers of the database ends with it, also after an error. */
static void
adapter_take_in_world(InboundCall *call, Json *raw)
{
	WorldCall	made;

	world_begin(&made);
	PG_TRY();
	{
		adapter_take_document(call, raw, "");
	}
	PG_FINALLY();
	{
		world_end(&made);
	}
	PG_END_TRY();
}

static Datum
adapter_call(FunctionCallInfo fcinfo, void (*take) (FunctionCallInfo fcinfo, Jsonb *envelope))
{
	Json	   *raw;
	InboundCall call = {.fcinfo = fcinfo, .name = argument_optional_text(fcinfo, 1), .take = take};
	int64		blobs_from;

	call.context = argument_is_null(fcinfo, 2) ? json_new_object() : json_read(PG_GETARG_JSONB_P(2));
	if (call.context->kind != JSON_OBJECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("context", "WRONG_TYPE"),
				 errmsg("argument \"context\" must be an object")));
	blobs_from = blob_from_bytes(call.context);
	/*
	 * clutch.inbound must not change anything in the database, so only
	 * clutch.ingest makes artifacts
	 */
	raw = adapter_read_document(fcinfo, take == adapter_send ? blobs_from : 0, &call.blobs);
	if (slice_present(call.name))
	{
		Adapter    *adapter = catalog_require(call.name);

		adapter->named = true;
		call.adapters = list_make1(adapter);
	}
	else
		call.adapters = catalog_list();
	call.world = world_get(call.context);
	result_begin_rows(fcinfo);
	adapter_take_in_world(&call, raw);
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
