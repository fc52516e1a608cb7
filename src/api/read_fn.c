/*-------------------------------------------------------------------------
 *
 * read_fn.c
 *	  Results, task trees and state transitions, and listening.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "api/result.h"
#include "api/visible.h"
#include "base/document.h"
#include "base/query.h"
#include "catalog/pg_type.h"
#include "flow/sight.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "task/output.h"
#include "task/task.h"
#include "task/task_tree.h"
#include "tcop/utility.h"
#include "trust/principal.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "wake/notify.h"

PG_FUNCTION_INFO_V1(clutch_result);
PG_FUNCTION_INFO_V1(clutch_steps);
PG_FUNCTION_INFO_V1(clutch_task_tree);
PG_FUNCTION_INFO_V1(clutch_task_transitions);
PG_FUNCTION_INFO_V1(clutch_channel);
PG_FUNCTION_INFO_V1(clutch_listen);

/* the columns of clutch.result */
enum
{
	RESULT_TASK_ID, RESULT_STATUS, RESULT_FINISHED, RESULT_ATTEMPT,
	RESULT_AGENT_ID, RESULT_PAYLOAD, RESULT_SEQ, RESULT_FINISHED_AT,
	NUM_RESULT_COLUMNS
};

Datum
clutch_result(PG_FUNCTION_ARGS)
{
	Slice		task_id = argument_text(fcinfo, 0, "task_id");
	Task	   *task;
	Datum		values[NUM_RESULT_COLUMNS] = {0};
	bool		nulls[NUM_RESULT_COLUMNS] = {0};
	Jsonb	   *event;
	JsonbValue	payload;

	result_begin_rows(fcinfo);
	task = visible_look_task(task_id);
	event = task->result_seq ? event_read(task->result_seq, ROWS_ACTIVE) : NULL;
	result_text(values, nulls, RESULT_TASK_ID, task->task_id);
	result_text(values, nulls, RESULT_STATUS, slice_of_cstring(task_status_name(task->status)));
	values[RESULT_FINISHED] = BoolGetDatum(task_status_is_over(task->status));
	values[RESULT_ATTEMPT] = Int32GetDatum(task->attempt);
	result_text(values, nulls, RESULT_AGENT_ID, task->agent_id);
	nulls[RESULT_PAYLOAD] = true;
	if (event != NULL && document_get(&event->root, "payload", &payload))
		result_jsonb(values, nulls, RESULT_PAYLOAD, document_of_value(&payload));
	result_int8(values, nulls, RESULT_SEQ, task->result_seq);
	result_timestamp(values, nulls, RESULT_FINISHED_AT, task->finished_at);
	result_put_row(fcinfo, values, nulls);
	return (Datum) 0;
}

/* ------------------------------------------------------------------- steps */

/* the columns of clutch.steps */
enum
{
	STEPS_NAME, STEPS_OUTPUT, STEPS_ATTEMPT, STEPS_SEQ, STEPS_AT,
	NUM_STEPS_COLUMNS
};

/* Puts the event with this seq, which has stored a step. */
static void
steps_put(FunctionCallInfo fcinfo, int64 seq)
{
	Datum		values[NUM_STEPS_COLUMNS] = {0};
	bool		nulls[NUM_STEPS_COLUMNS] = {0};
	Envelope	envelope;
	Jsonb	   *event;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_ACTIVE, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		event = rows_jsonb(&scan, Anum_event_envelope);
		envelope_read_admitted(event, &envelope, problem_list());
		result_text(values, nulls, STEPS_NAME, envelope.orders.step);
		result_jsonb(values, nulls, STEPS_OUTPUT, output_read(event));
		values[STEPS_ATTEMPT] = Int32GetDatum(rows_int4(&scan, Anum_event_attempt));
		result_int8(values, nulls, STEPS_SEQ, seq);
		result_timestamp(values, nulls, STEPS_AT, rows_timestamp(&scan, Anum_event_received_at));
		result_put_row(fcinfo, values, nulls);
	}
	rows_end(&scan);
}

Datum
clutch_steps(PG_FUNCTION_ARGS)
{
	Slice		task_id = argument_text(fcinfo, 0, "task_id");
	MemoryContext each;
	MemoryContext old;
	int64	   *seqs;
	int			n;
	int			i;

	result_begin_rows(fcinfo);
	(void) visible_look_task(task_id);
	seqs = output_list(task_id, &n);
	each = AllocSetContextCreate(CurrentMemoryContext, "clutch steps", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(each);
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		steps_put(fcinfo, seqs[i]);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return (Datum) 0;
}

/* -------------------------------------------------------------------- tree */

enum
{
	TREE_TASK_ID, TREE_PARENT_TASK_ID, TREE_DEPTH, TREE_PATH, TREE_STATUS,
	TREE_AGENT_ID, TREE_ATTEMPT, TREE_DOMAIN, TREE_PAYLOAD_TYPE,
	TREE_CREATED_AT, TREE_STARTED_AT, TREE_FINISHED_AT,
	NUM_TREE_COLUMNS
};

/*
 * The IDs from the root down to a node, as text[] in its on-disk format.  The
 * array keeps the elements of the previous node that are still right: a node
 * at depth d replaces only the elements from d on.
 */
typedef struct TreePath
{
	ArrayType  *array;
	Size		size;			/* allocated size */
	Size	   *ends;			/* where the element at each depth ends */
	int			room;			/* allocated length of ends */
} TreePath;

static void
tree_path_begin(TreePath *path)
{
	path->size = 1024;
	path->array = palloc(path->size);
	path->room = 16;
	path->ends = palloc(sizeof(Size) * path->room);
	path->array->ndim = 1;
	path->array->dataoffset = 0;	/* no nulls */
	path->array->elemtype = TEXTOID;
	ARR_LBOUND(path->array)[0] = 1;
}

static void
tree_path_grow(TreePath *path, int depth, Size size)
{
	if (depth >= path->room)
	{
		path->room = depth * 2;
		path->ends = repalloc_huge(path->ends, sizeof(Size) * path->room);
	}
	if (size <= path->size)
		return;
	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errproblem("run_id", "TOO_LARGE"),
				 errmsg("the path of a task exceeds the maximum size of an array"),
				 errhint("Query clutch.tasks by parent_task_id instead.")));
	path->size = Min(size * 2, MaxAllocSize);
	path->array = repalloc(path->array, path->size);
}

static Datum
tree_path_to(TreePath *path, const TaskNode *node)
{
	Slice		id = slice_of_text((const struct varlena *) DatumGetPointer(node->task_id));
	Size		start = node->depth == 0 ? ARR_OVERHEAD_NONULLS(1) : path->ends[node->depth - 1];
	Size		end = start + INTALIGN(VARHDRSZ + id.len);
	char	   *element;

	tree_path_grow(path, node->depth, end);
	element = (char *) path->array + start;
	memset(element + VARHDRSZ + id.len, 0, end - start - VARHDRSZ - id.len);
	SET_VARSIZE(element, VARHDRSZ + id.len);
	memcpy(VARDATA(element), id.s, id.len);
	path->ends[node->depth] = end;
	ARR_DIMS(path->array)[0] = node->depth + 1;
	SET_VARSIZE(path->array, end);
	return PointerGetDatum(path->array);
}

static void
tree_put_text(Datum *values, bool *nulls, int column, Datum text)
{
	values[column] = text;
	nulls[column] = text == 0;
}

static Datum
tree_row(TupleDesc desc, const TaskNode *node, Datum path)
{
	Datum		values[NUM_TREE_COLUMNS];
	bool		nulls[NUM_TREE_COLUMNS] = {0};

	tree_put_text(values, nulls, TREE_TASK_ID, node->task_id);
	tree_put_text(values, nulls, TREE_PARENT_TASK_ID, node->parent_task_id);
	values[TREE_DEPTH] = Int32GetDatum(node->depth);
	values[TREE_PATH] = path;
	tree_put_text(values, nulls, TREE_STATUS, node->status);
	tree_put_text(values, nulls, TREE_AGENT_ID, node->agent_id);
	values[TREE_ATTEMPT] = Int32GetDatum(node->attempt);
	tree_put_text(values, nulls, TREE_DOMAIN, node->domain);
	tree_put_text(values, nulls, TREE_PAYLOAD_TYPE, node->payload_type);
	result_timestamp(values, nulls, TREE_CREATED_AT, node->created_at);
	result_timestamp(values, nulls, TREE_STARTED_AT, node->started_at);
	result_timestamp(values, nulls, TREE_FINISHED_AT, node->finished_at);
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/* Is the node one of the tasks?  They are in byte order. */
static bool
tree_is_seen(const TaskNode *node, List *tasks)
{
	Slice		id = slice_of_text((const struct varlena *) DatumGetPointer(node->task_id));
	int			low = 0;
	int			high = list_length(tasks);

	while (low < high)
	{
		int			middle = (low + high) / 2;
		int			order = slice_compare(*(Slice *) list_nth(tasks, middle), id);

		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/*
 * A walk over the tasks of a run that the caller may see.
 */
typedef struct TreeWalk
{
	TaskNode  **nodes;			/* depth first */
	int			n;
	int			next;			/* index of the node to look at next */
	SightOfRun	seen;
	List	   *seen_tasks;		/* if only some tasks are seen */
	TreePath	path;
} TreeWalk;

static TreeWalk *
tree_walk_begin(Slice run_id)
{
	TreeWalk   *walk = palloc0(sizeof(TreeWalk));
	Sight		sight;

	sight_begin(&sight);
	walk->seen = sight_of_run(&sight, run_id);
	if (walk->seen == SIGHT_NONE)
		return walk;
	if (walk->seen == SIGHT_TASKS)
		walk->seen_tasks = sight_list_tasks_of_run(&sight, run_id);
	walk->nodes = task_tree_of_run(run_id, &walk->n);
	tree_path_begin(&walk->path);
	return walk;
}

/* Returns the next task that the caller may see, and the path to it; NULL at the end. */
static TaskNode *
tree_walk_next(TreeWalk *walk, Datum *path)
{
	while (walk->next < walk->n)
	{
		TaskNode   *node = walk->nodes[walk->next++];

		CHECK_FOR_INTERRUPTS();
		/* the path is also needed below a task that is not seen */
		*path = tree_path_to(&walk->path, node);
		if (walk->seen == SIGHT_RUN || tree_is_seen(node, walk->seen_tasks))
			return node;
	}
	return NULL;
}

/*
 * Returns one row per call.  clutch.task_tree calls this in its select list,
 * where rows go on to the query as they are made; in FROM, they would all be
 * stored first, and the rows of a large run would be written to disk.
 */
Datum
clutch_task_tree(PG_FUNCTION_ARGS)
{
	FuncCallContext *calls;
	TaskNode   *node;
	Datum		path;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;

		calls = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(calls->multi_call_memory_ctx);
		calls->user_fctx = tree_walk_begin(argument_text(fcinfo, 0, "run_id"));
		calls->tuple_desc = result_row_type(fcinfo);
		MemoryContextSwitchTo(caller);
	}
	calls = SRF_PERCALL_SETUP();
	node = tree_walk_next(calls->user_fctx, &path);
	if (node == NULL)
		SRF_RETURN_DONE(calls);
	SRF_RETURN_NEXT(calls, tree_row(calls->tuple_desc, node, path));
}

/* Returns the state machine of a task, as rows. */
Datum
clutch_task_transitions(PG_FUNCTION_ARGS)
{
	TaskStatus	from;
	TaskStatus	to;
	TaskStep	step;
	int			n = 0;

	result_begin_rows(fcinfo);
	while (transition_row(n++, &from, &step, &to))
	{
		Datum		values[3];
		bool		nulls[3] = {0};

		values[0] = CStringGetTextDatum(task_status_name(from));
		values[1] = CStringGetTextDatum(task_step_name(step));
		values[2] = CStringGetTextDatum(task_status_name(to));
		result_put_row(fcinfo, values, nulls);
	}
	return (Datum) 0;
}

/* --------------------------------------------------------------- listening */

/*
 * Nothing is ever addressed to a name without one of the prefixes, so whoever
 * listened to that would wait in vain.
 */
static void
require_recipient(Slice id)
{
	const char *rule;
	const char *code = identifier_fault(ID_RECIPIENT, id, &rule);

	if (code != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("id", code),
				 errmsg("invalid agent ID %s", place_quote(id)),
				 errhint("An agent ID begins with \"agent:\", like \"agent:researcher\".")));
}

static char *
argument_channel(FunctionCallInfo fcinfo)
{
	Slice		kind = argument_text(fcinfo, 0, "kind");
	Slice		id = argument_optional_text(fcinfo, 1);
	Audience	audience;

	if (!audience_parse(kind, &audience))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("kind", "WRONG_VALUE"),
				 errmsg("invalid kind of channel %s", place_quote(kind)),
				 errhint("The kinds are all, outbox, agent, thread, run and task.")));
	if (!audience_is_one(audience) && (!slice_present(id) || id.len == 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("id", "REQUIRED"),
				 errmsg("argument \"id\" must be specified for a channel of kind \"%.*s\"",
						kind.len, kind.s),
				 errhint("Pass the ID of the agent, thread, run or task.")));
	if (audience == AUDIENCE_AGENT)
		require_recipient(id);
	return notify_channel(audience, id);
}

Datum
clutch_channel(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(argument_channel(fcinfo)));
}

/*
 * Makes the checks that PostgreSQL itself makes before LISTEN calls
 * Async_Listen.
 */
static void
listen_check_allowed(void)
{
	PreventCommandDuringRecovery("clutch.listen()");
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot execute %s within security-restricted operation",
						"clutch.listen()")));
	if (MyBackendType != B_BACKEND)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot execute %s within a background process", "clutch.listen()")));
}

/*
 * Is this session certainly shared by several clients?  pgbouncer (1.21 and
 * later) prepares statements under names of its own, and only when a client
 * keeps its server connection no longer than a transaction.  Nothing else that
 * the server can see reveals a pooler, so false proves nothing.
 */
static bool
listen_is_pooled(void)
{
	static QueryPlan plan = {
		"SELECT FROM pg_catalog.pg_prepared_statements AS p"
		" WHERE pg_catalog.starts_with(p.name, 'PGBOUNCER_') LIMIT 1"
	};

	return query_execute(&plan, NULL) > 0;
}

/*
 * Behind such a pooler, LISTEN would wake whichever client happens to use the
 * server connection, so we do nothing.
 */
Datum
clutch_listen(PG_FUNCTION_ARGS)
{
	char	   *channel = argument_channel(fcinfo);

	listen_check_allowed();
	if (listen_is_pooled())
		ereport(NOTICE,
				(errmsg("clutch.listen() does nothing behind a transaction pooler"),
				 errdetail("The prepared statements of this session are pgbouncer's, which gives the session to another client after each transaction."),
				 errhint("Listen on a direct connection, or poll.")));
	else
		notify_listen(channel);
	PG_RETURN_TEXT_P(cstring_to_text(channel));
}
