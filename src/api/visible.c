/*-------------------------------------------------------------------------
 *
 * visible.c
 *	  Which events and tasks a role may read, for the functions that return
 *	  them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/stratnum.h"
#include "access/xact.h"
#include "api/result.h"
#include "api/visible.h"
#include "base/column.h"
#include "base/document.h"
#include "base/rows.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "flow/right.h"
#include "flow/sight.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "parser/parse_func.h"
#include "registry/agent.h"
#include "registry/slot.h"
#include "store/epoch.h"
#include "task/verdict.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(clutch_reads_all);
PG_FUNCTION_INFO_V1(clutch_my_agents);
PG_FUNCTION_INFO_V1(clutch_my_runs);
PG_FUNCTION_INFO_V1(clutch_envelope_of);
PG_FUNCTION_INFO_V1(clutch_sees);
PG_FUNCTION_INFO_V1(clutch_sees_from);
PG_FUNCTION_INFO_V1(clutch_is_role);
PG_FUNCTION_INFO_V1(clutch_seen_runs);
PG_FUNCTION_INFO_V1(clutch_seen_runs_support);
PG_FUNCTION_INFO_V1(clutch_sees_support);
PG_FUNCTION_INFO_V1(clutch_current_epoch);
PG_FUNCTION_INFO_V1(clutch_policy_support);
PG_FUNCTION_INFO_V1(clutch_slots_held);

bool
visible_everything(void)
{
	return privilege_reads_all(GetUserId(), ROWS_ACTIVE);
}

bool
visible_task(const Task *task)
{
	Sight		sight;

	sight_begin(&sight);
	return sight_has_task(&sight, task);
}

bool
visible_run(Slice run_id)
{
	Sight		sight;

	sight_begin(&sight);
	return sight_of_run(&sight, run_id) == SIGHT_RUN;
}

Task *
visible_look_task(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_ACTIVE);

	if (task == NULL || !visible_task(task))
		verdict_task_not_found(task_id);
	return task;
}

void
visible_require_own_agent(Slice agent_id, const char *argument)
{
	if (slice_starts(agent_id, SLICE_OF("agent:")))
		principal_require(agent_id, argument);
	agent_require(agent_id, argument);
}

/* ------------------------------------------------------------- for policies */

Datum
clutch_reads_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(visible_everything());
}

/*
 * Makes all plans anew after a membership has changed, because the value that
 * clutch_policy_support puts into a plan may depend on it.
 */
static void
forget_plans(Datum arg, int cacheid, uint32 hashvalue)
{
	ResetPlanCache();
}

/*
 * Replaces clutch.reads_all(), which is the first condition of the policies,
 * by its value when a query is planned.  A reader's query is then planned as
 * if there were no policy, and that of an agent's role can use the indexes
 * that the rest of the policy matches.
 *
 * A plan that depends on row-level security is made for one role.  When that
 * role gains or loses a privilege of clutch, its rights to the tables change
 * as well, and PostgreSQL makes the plan again.  That is not so when a role
 * membership changes; see forget_plans.  In other plans, which serve all
 * roles, the call is not replaced.
 */
Datum
clutch_policy_support(PG_FUNCTION_ARGS)
{
	static bool watching = false;
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	PlannerInfo *root;

	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	root = ((SupportRequestSimplify *) request)->root;
	if (root == NULL || !root->parse->hasRowSecurity)
		PG_RETURN_POINTER(NULL);
	if (!watching)
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_plans, (Datum) 0);
	watching = true;
	PG_RETURN_POINTER(makeBoolConst(visible_everything(), false));
}

/*
 * Returns the runs whose rows an index scan reads for clutch.sees, which then
 * still checks each row.
 */
Datum
clutch_seen_runs(PG_FUNCTION_ARGS)
{
	Sight		sight;

	sight_begin(&sight);
	PG_RETURN_DATUM(sight_array_of_runs(&sight));
}

/*
 * What an expression remembers while it is evaluated for the rows of one
 * statement.  An expression in PL/pgSQL lives until the end of the
 * transaction, and each of its evaluations is a separate statement.
 */
typedef struct RowSight
{
	Oid			role;			/* InvalidOid if nothing is remembered */
	SubTransactionId savepoint;
	TransactionId xmin;			/* the snapshot's limits, which tell it from
								 * others in the transaction */
	TransactionId xmax;
	uint32		xcnt;
	CommandId	curcid;
	MemoryContext context;		/* holds the sight */
	Sight		sight;
} RowSight;

/*
 * Is what we remember still valid?  A cursor may be read by another role than
 * the one that opened it.
 */
static bool
row_sight_is_current(const RowSight *seen, Snapshot snapshot)
{
	return seen->role == GetUserId() && seen->savepoint == GetCurrentSubTransactionId() &&
		seen->xmin == snapshot->xmin && seen->xmax == snapshot->xmax && seen->xcnt == snapshot->xcnt &&
		seen->curcid == snapshot->curcid;
}

static void
row_sight_begin(RowSight *seen, Snapshot snapshot)
{
	MemoryContext old;

	seen->role = InvalidOid;
	MemoryContextReset(seen->context);
	old = MemoryContextSwitchTo(seen->context);
	sight_begin(&seen->sight);
	MemoryContextSwitchTo(old);
	seen->savepoint = GetCurrentSubTransactionId();
	seen->xmin = snapshot->xmin;
	seen->xmax = snapshot->xmax;
	seen->xcnt = snapshot->xcnt;
	seen->curcid = snapshot->curcid;
	seen->role = GetUserId();
}

static RowSight *
row_sight_of(FmgrInfo *expression)
{
	RowSight   *seen = expression->fn_extra;
	Snapshot	snapshot = GetActiveSnapshot();

	if (seen == NULL)
	{
		seen = MemoryContextAllocZero(expression->fn_mcxt, sizeof(RowSight));
		seen->context = AllocSetContextCreate(expression->fn_mcxt, "clutch sight of rows", ALLOCSET_SMALL_SIZES);
		expression->fn_extra = seen;
	}
	if (!row_sight_is_current(seen, snapshot))
		row_sight_begin(seen, snapshot);
	return seen;
}

/* May the role read a row of this run and, unless it is NULL, of this task? */
Datum
clutch_sees(PG_FUNCTION_ARGS)
{
	RowSight   *seen = row_sight_of(fcinfo->flinfo);

	if (argument_is_null(fcinfo, 0))
		PG_RETURN_BOOL(seen->sight.everything);
	PG_RETURN_BOOL(sight_has_row(&seen->sight, slice_of_text(PG_GETARG_TEXT_PP(0)),
								 argument_is_null(fcinfo, 1) ? SLICE_NONE : slice_of_text(PG_GETARG_TEXT_PP(1))));
}

/*
 * May the role read what belongs to this agent, such as what it has sent in
 * the current transaction?
 */
Datum
clutch_sees_from(PG_FUNCTION_ARGS)
{
	RowSight   *seen = row_sight_of(fcinfo->flinfo);

	PG_RETURN_BOOL(seen->sight.everything ||
				   sight_has_agent(&seen->sight, slice_of_text(PG_GETARG_TEXT_PP(0))));
}

Datum
clutch_is_role(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_OID(0) == GetUserId());
}

/*
 * Returns the expected fraction of a table's rows that the role sees: the
 * number of runs that it sees, divided by the number of runs in the table
 * according to the statistics.  The number of runs that it sees is that of its
 * last list in this session or, without such a list, "supposed".
 */
static double
share_of_runs(PlannerInfo *root, Node *run_id, int relid, double supposed)
{
	int			listed = sight_count_listed_runs();
	VariableStatData column;
	bool		is_default;
	double		runs;

	examine_variable(root, run_id, relid, &column);
	runs = get_variable_numdistinct(&column, &is_default);
	ReleaseVariableStats(column);
	return Min((listed >= 0 ? listed : supposed) / Max(runs, 1.0), 1.0);
}

/*
 * How many runs a role is assumed to see.  The number is so small that an
 * index is used if the table has many more runs.
 */
#define SUPPOSED_RUNS	20.0

/* Is this the first column of an index of the table? */
static bool
leads_an_index(const RelOptInfo *table, Node *column)
{
	ListCell   *cell;

	if (!IsA(column, Var) || ((Var *) column)->varno != (int) table->relid)
		return false;
	foreach(cell, table->indexlist)
		if (lfirst_node(IndexOptInfo, cell)->indexkeys[0] == ((Var *) column)->varattno)
			return true;
	return false;
}

/* Is it the column with the runs or, if "run_id" is NULL, one that an index begins with? */
static bool
finds_rows(const RelOptInfo *table, Node *column, Node *run_id)
{
	if (column != NULL && IsA(column, RelabelType))
		column = (Node *) ((RelabelType *) column)->arg;
	if (column == NULL)
		return false;
	return run_id != NULL ? equal(column, run_id) : leads_an_index(table, column);
}

/*
 * Is it a condition like run_id = 'a', run_id IN ('a', 'b') or
 * run_id = 'a' OR run_id = 'b' for such columns?
 */
static bool
names_values(const RelOptInfo *table, Node *condition, Node *run_id)
{
	ListCell   *cell;

	if (is_opclause(condition))
		return get_mergejoin_opfamilies(((OpExpr *) condition)->opno) != NIL &&
			(finds_rows(table, get_leftop(condition), run_id) || finds_rows(table, get_rightop(condition), run_id));
	if (IsA(condition, ScalarArrayOpExpr))
		return ((ScalarArrayOpExpr *) condition)->useOr &&
			get_mergejoin_opfamilies(((ScalarArrayOpExpr *) condition)->opno) != NIL &&
			finds_rows(table, linitial(((ScalarArrayOpExpr *) condition)->args), run_id);
	if (!is_orclause(condition))
		return false;
	foreach(cell, ((BoolExpr *) condition)->args)
		if (!names_values(table, lfirst(cell), run_id))
			return false;
	return true;
}

/*
 * Asking about so many rows takes as long as making the list of a role of
 * 10,000 runs.  The planner weighs that up only for more of them.
 */
#define MOST_NAMED_ROWS	10000

/*
 * Does the query name its runs, or values that an index finds in rather few
 * rows, so that it needs no list of runs?  The rows with a value of a column
 * without an index, such as the status of a task, are looked for among all of
 * the table, and a sender may have sent half of the log.
 */
static bool
names_a_value(const RelOptInfo *table, Node *run_id)
{
	ListCell   *cell;

	foreach(cell, table->baserestrictinfo)
	{
		const RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		if (names_values(table, (Node *) condition->clause, run_id) ||
			(condition->norm_selec * table->tuples <= MOST_NAMED_ROWS &&
			 names_values(table, (Node *) condition->clause, NULL)))
			return true;
	}
	return false;
}

/*
 * Reading more than this fraction of a table through an index takes longer
 * than reading all of it.
 */
#define MOST_BY_INDEX	0.33

/*
 * Returns the condition run_id = ANY (clutch.seen_runs()), or NULL if the index
 * does not compare texts: a type that becomes a text without a function, such
 * as citext, may have an order of its own.
 */
static Node *
condition_on_runs(const SupportRequestIndexCondition *request, Node *run_id)
{
	Oid			runs = LookupFuncName(list_make2(makeString("clutch"), makeString("seen_runs")),
									  0, NULL, false);
	Oid			equal = get_opfamily_member(request->opfamily, TEXTOID, TEXTOID, BTEqualStrategyNumber);
	ScalarArrayOpExpr *condition;

	if (!OidIsValid(equal))
		return NULL;
	condition = makeNode(ScalarArrayOpExpr);
	condition->opno = equal;
	condition->opfuncid = get_opcode(condition->opno);
	condition->useOr = true;
	condition->inputcollid = request->indexcollation;
	condition->args = list_make2(run_id, makeFuncExpr(runs, TEXTARRAYOID, NIL, InvalidOid,
													  request->indexcollation, COERCE_EXPLICIT_CALL));
	condition->location = -1;
	return (Node *) condition;
}

/*
 * Lets the planner read the rows that a role sees through an index on the run:
 * the scan looks up the runs of clutch.seen_runs(), and clutch.sees is then
 * checked for each row.
 */
Datum
clutch_sees_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *rows = (SupportRequestSelectivity *) request;

		rows->selectivity = share_of_runs(rows->root, linitial(rows->args), rows->varRelid, SUPPOSED_RUNS);
		PG_RETURN_POINTER(rows);
	}
	if (IsA(request, SupportRequestIndexCondition))
	{
		SupportRequestIndexCondition *index = (SupportRequestIndexCondition *) request;
		Node	   *run_id = linitial(((FuncExpr *) index->node)->args);
		Node	   *condition;

		if (index->indexarg != 0 || index->index->relam != BTREE_AM_OID ||
			names_a_value(index->index->rel, run_id) ||
			share_of_runs(index->root, run_id, 0, 0) > MOST_BY_INDEX)
			PG_RETURN_POINTER(NULL);
		condition = condition_on_runs(index, run_id);
		index->lossy = true;
		PG_RETURN_POINTER(condition == NULL ? NIL : list_make1(condition));
	}
	PG_RETURN_POINTER(NULL);
}

/*
 * The cost of one run in the list, in the planner's unit, which is a
 * sequential page read.  Listing a run takes two microseconds, or seven in a
 * list of 50,000 runs.
 */
#define COST_OF_A_RUN	0.5

Datum
clutch_seen_runs_support(PG_FUNCTION_ARGS)
{
	SupportRequestCost *request = (SupportRequestCost *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestCost) || sight_count_listed_runs() < 0)
		PG_RETURN_POINTER(NULL);
	request->startup = 0;
	request->per_tuple = COST_OF_A_RUN * sight_count_listed_runs();
	PG_RETURN_POINTER(request);
}

Datum
clutch_current_epoch(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(epoch_look());
}

Datum
clutch_my_agents(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(column_of_texts(principal_agents()));
}

Datum
clutch_my_runs(PG_FUNCTION_ARGS)
{
	SliceList	agents = principal_agents();

	PG_RETURN_DATUM(column_of_list(right_list_runs(&agents)));
}

bool
visible_event(int64 seq)
{
	Sight		sight;

	sight_begin(&sight);
	return sight.everything || sight_has_seq(&sight, seq);
}

/* ---------------------------------------------------------------- for views */

/* Returns NULL if there is no such event, or if the role may not read it. */
Datum
clutch_envelope_of(PG_FUNCTION_ARGS)
{
	int64		seq = PG_GETARG_INT64(0);
	Jsonb	   *envelope = visible_event(seq) ? event_read(seq, ROWS_ACTIVE) : NULL;

	if (envelope == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(envelope);
}

Datum
clutch_slots_held(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(slot_count_tasks(slice_of_text(PG_GETARG_TEXT_PP(0))));
}
