/*-------------------------------------------------------------------------
 *
 * workflow.c
 *	  Definitions of workflows: clutch.workflow.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/workflow.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/document.h"
#include "base/guard.h"
#include "base/rows.h"
#include "lib/stringinfo.h"
#include "protocol/identifier.h"
#include "protocol/limits.h"
#include "utils/timestamp.h"

/* columns of clutch.workflow */
enum
{
	Anum_workflow_name = 1,
	Anum_workflow_version,
	Anum_workflow_definition,
	Anum_workflow_registered_at,
	Anum_workflow_removed_at,
	Natts_workflow = Anum_workflow_removed_at
};

ROWS_CHECK_COLUMNS(Natts_workflow, WORKFLOW);

#define NAMES_SHOWN		10

/* ----------------------------------------------------------------- finding */

static void
workflow_begin_scan(RowScan *scan, Slice name, int version, LOCKMODE lock)
{
	rows_begin(scan, TABLE_WORKFLOW, INDEX_WORKFLOW, ROWS_LATEST, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, name);
	if (version > 0)
		rows_key_int4(scan, 2, BTEqualStrategyNumber, version);
	rows_start(scan);
}

/*
 * Returns the definition of a version (0 means the newest), or NULL.  *version
 * is set to its version.
 */
static Jsonb *
workflow_definition(Slice name, WorkflowState state, int *version)
{
	Jsonb	   *definition = NULL;
	RowScan		scan;

	workflow_begin_scan(&scan, name, *version, AccessShareLock);
	while (definition == NULL && rows_previous(&scan))
	{
		if (state == WORKFLOW_REGISTERED && !rows_is_null(&scan, Anum_workflow_removed_at))
			continue;
		definition = rows_jsonb(&scan, Anum_workflow_definition);
		*version = rows_int4(&scan, Anum_workflow_version);
	}
	rows_end(&scan);
	return definition;
}

bool
workflow_find(Slice name, int version, WorkflowState state, Workflow *workflow)
{
	Jsonb	   *definition = workflow_definition(name, state, &version);

	if (definition == NULL)
		return false;
	workflow_read(definition, workflow, problem_list_admitted());
	workflow->version = version;
	return true;
}

void
workflow_split_name(Slice text, Slice *name, int *version)
{
	Slice		number;
	int64		value = 0;
	int			i;

	identifier_split_version(text, name, &number);
	*version = 0;
	if (!slice_present(number))
		return;
	for (i = 0; i < number.len && value <= PG_INT32_MAX; i++)
	{
		if (number.s[i] < '0' || number.s[i] > '9')
			break;
		value = value * 10 + (number.s[i] - '0');
	}
	*version = i == number.len && value > 0 && value <= PG_INT32_MAX ? (int) value : -1;
}

char *
workflow_list_names(void)
{
	StringInfoData names;
	Slice		last = SLICE_NONE;
	int			n = 0;
	RowScan		scan;

	initStringInfo(&names);
	rows_begin(&scan, TABLE_WORKFLOW, INDEX_WORKFLOW, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (n <= NAMES_SHOWN && rows_next(&scan))
	{
		Slice		name = rows_text(&scan, Anum_workflow_name);

		if (slice_equal(name, last) || !rows_is_null(&scan, Anum_workflow_removed_at))
			continue;
		last = slice_copy(name);
		if (n++ < NAMES_SHOWN)
			appendStringInfo(&names, "%s%.*s", n > 1 ? ", " : "", last.len, last.s);
		else
			appendStringInfoString(&names, ", ...");
	}
	rows_end(&scan);
	return n > 0 ? names.data : NULL;
}

/* ------------------------------------------------------------------- steps */

const WorkflowStep *
workflow_step(const Workflow *workflow, Slice id)
{
	int			i;

	for (i = 0; i < workflow->nsteps; i++)
		if (slice_present(id) && slice_equal(workflow->steps[i].id, id))
			return &workflow->steps[i];
	return NULL;
}

const WorkflowStep *
workflow_step_of_payload(const Workflow *workflow, MessageType type, Slice payload_type)
{
	const WorkflowStep *found = NULL;
	int			i;

	for (i = 0; slice_present(payload_type) && i < workflow->nsteps; i++)
	{
		const WorkflowStep *step = &workflow->steps[i];

		if (!slice_equal(step->payload_type, payload_type) ||
			(type != MSG_TASK_REQUEST && type != step->type))
			continue;
		if (found != NULL)
			return NULL;
		found = step;
	}
	return found;
}

bool
workflow_step_concerns(const WorkflowStep *step, MessageType type, Slice payload_type)
{
	return type == step->type &&
		(type == MSG_TASK_RESULT || slice_equal(payload_type, step->payload_type));
}

char *
workflow_list_steps(const Workflow *workflow)
{
	StringInfoData ids;
	int			i;

	initStringInfo(&ids);
	for (i = 0; i < workflow->nsteps; i++)
		appendStringInfo(&ids, "%s%.*s", i > 0 ? ", " : "", workflow->steps[i].id.len,
						 workflow->steps[i].id.s);
	return ids.data;
}

/* ------------------------------------------------------------------ guards */

/* The guards of a name.  binding_set has guards of this kind, too. */
enum
{
	GUARDED_CHANGE = 1,			/* kept until the transaction ends */
	GUARDED_BINDING				/* held briefly, except for a removal, which
								 * keeps it */
};

static uint64
workflow_guard(Slice name, int64 what)
{
	return guard_key(GUARD_WORKFLOW, name, SLICE_NONE, what);
}

uint64
workflow_binding_guard(Slice name)
{
	return workflow_guard(name, GUARDED_BINDING);
}

/* ------------------------------------------------------------- registering */

/* Returns the document without its version, which is a column. */
static Jsonb *
workflow_without_version(Jsonb *document)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_pairs(&b, &document->root, "version");
	return document_end(&b);
}

static void
workflow_insert(Slice name, int version, Jsonb *definition)
{
	Datum		values[Natts_workflow] = {0};
	bool		nulls[Natts_workflow] = {0};

	values[Anum_workflow_name - 1] = PointerGetDatum(slice_to_text(name));
	values[Anum_workflow_version - 1] = Int32GetDatum(version);
	values[Anum_workflow_definition - 1] = JsonbPGetDatum(definition);
	values[Anum_workflow_registered_at - 1] = TimestampTzGetDatum(clock_now());
	nulls[Anum_workflow_removed_at - 1] = true;
	(void) rows_insert(TABLE_WORKFLOW, values, nulls);
}

/*
 * Sets when the version was removed; 0 means that it is not.  Returns false if
 * it had that value already.
 */
static bool
workflow_set_removed(Slice name, int version, TimestampTz at)
{
	bool		is_news;
	RowScan		scan;

	workflow_begin_scan(&scan, name, version, RowExclusiveLock);
	is_news = rows_next(&scan) && rows_is_null(&scan, Anum_workflow_removed_at) == (at != 0) &&
		rows_lock(&scan, ROW_LOCK_CHANGE, true) == ROW_LOCKED;
	if (is_news)
	{
		Datum		values[Natts_workflow];
		bool		nulls[Natts_workflow];
		ItemPointerData tid = rows_tid(&scan);

		rows_keep(&scan, values, nulls);
		column_put_int8(values, nulls, Anum_workflow_removed_at, at);
		rows_update(TABLE_WORKFLOW, &tid, values, nulls);
	}
	rows_end(&scan);
	return is_news;
}

/* Returns the highest version of all, or 0. */
static int
workflow_last_version(Slice name)
{
	int			version = 0;

	(void) workflow_definition(name, WORKFLOW_ANY, &version);
	return version;
}

static int
workflow_next_version(Slice name)
{
	int			last = workflow_last_version(name);

	if (last == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("/version", "NUMBER_OUT_OF_RANGE"),
				 errmsg("version %d of workflow \"%.*s\" is the last one that there can be",
						last, name.len, name.s),
				 errhint("Register the workflow under another name.")));
	return last + 1;
}

int
workflow_register(Jsonb *document)
{
	ProblemList *list = problem_list();
	Workflow	workflow;
	Jsonb	   *definition;
	Jsonb	   *present;
	int			version;

	limits_check(document, "", list);
	workflow_read(document, &workflow, list);
	workflow_check(&workflow, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_INVALID_PARAMETER_VALUE, "workflow");

	/* one after the other, because versions are numbered consecutively */
	guard_keep(workflow_guard(workflow.name, GUARDED_CHANGE));
	definition = workflow_without_version(document);
	version = (int) workflow.version;
	present = workflow_definition(workflow.name, version > 0 ? WORKFLOW_ANY : WORKFLOW_REGISTERED,
								  &version);
	if (present != NULL && compareJsonbContainers(&present->root, &definition->root) == 0)
	{
		(void) workflow_set_removed(workflow.name, version, 0);
		return version;
	}
	if (present != NULL && workflow.version > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errproblem("/version", "WORKFLOW_EXISTS"),
				 errmsg("version %d of workflow \"%.*s\" is registered with another definition",
						version, workflow.name.len, workflow.name.s),
				 errhint("A version never changes. Leave the version out to register the next one.")));
	version = workflow.version > 0 ? (int) workflow.version : workflow_next_version(workflow.name);
	workflow_insert(workflow.name, version, definition);
	return version;
}

/* ---------------------------------------------------------------- removing */

void
workflow_begin_removal(Slice name)
{
	guard_keep(workflow_guard(name, GUARDED_CHANGE));
	guard_keep(workflow_binding_guard(name));
}

bool
workflow_remove(Slice name, int version, bool is_needed)
{
	bool		was_registered = workflow_set_removed(name, version, clock_now());
	RowScan		scan;

	if (is_needed)
		return was_registered;
	rows_begin(&scan, TABLE_WORKFLOW, INDEX_WORKFLOW, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	rows_key_int4(&scan, 2, BTEqualStrategyNumber, version);
	(void) rows_delete_first(&scan);
	return was_registered;
}
