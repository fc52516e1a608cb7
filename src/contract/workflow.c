/*-------------------------------------------------------------------------
 *
 * workflow.c
 *	  The definitions of workflows: clutch.workflow.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/workflow.h"

#include "base/clock.h"
#include "base/document.h"
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
	Natts_workflow = Anum_workflow_registered_at
};

ROWS_CHECK_COLUMNS(Natts_workflow, WORKFLOW);

#define NAMES_SHOWN		10

/* ----------------------------------------------------------------- finding */

/* The definition of a version (0: the newest), or NULL; *version is set to it. */
static Jsonb *
workflow_definition(Slice name, int *version)
{
	Jsonb	   *definition = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_WORKFLOW, INDEX_WORKFLOW, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	if (*version > 0)
		rows_key_int4(&scan, 2, BTEqualStrategyNumber, *version);
	rows_start(&scan);
	if (rows_previous(&scan))
	{
		definition = rows_jsonb(&scan, Anum_workflow_definition);
		*version = rows_int4(&scan, Anum_workflow_version);
	}
	rows_end(&scan);
	return definition;
}

bool
workflow_find(Slice name, int version, Workflow *workflow)
{
	Jsonb	   *definition = workflow_definition(name, &version);

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
	for (i = 0; i < number.len; i++)
	{
		if (number.s[i] < '0' || number.s[i] > '9' || value > PG_INT32_MAX / 10 - 1)
			break;
		value = value * 10 + (number.s[i] - '0');
	}
	*version = i == number.len && value > 0 ? (int) value : -1;
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

		if (slice_equal(name, last))
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

/* ------------------------------------------------------------- registering */

/* The document without its version, which is a column. */
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
	Datum		values[Natts_workflow];
	bool		nulls[Natts_workflow] = {0};

	values[Anum_workflow_name - 1] = PointerGetDatum(slice_to_text(name));
	values[Anum_workflow_version - 1] = Int32GetDatum(version);
	values[Anum_workflow_definition - 1] = JsonbPGetDatum(definition);
	values[Anum_workflow_registered_at - 1] = TimestampTzGetDatum(clock_now());
	(void) rows_insert(TABLE_WORKFLOW, values, nulls);
}

int
workflow_register(Jsonb *document)
{
	ProblemList *list = problem_list();
	Workflow	workflow;
	Jsonb	   *definition;
	Jsonb	   *present;
	int			version;

	limits_check(document, list);
	workflow_read(document, &workflow, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_INVALID_PARAMETER_VALUE, "workflow");

	/* one after the other, until the transaction ends: the versions count up */
	relation_close(rows_open(TABLE_WORKFLOW, ShareRowExclusiveLock), NoLock);
	definition = workflow_without_version(document);
	version = (int) workflow.version;
	present = workflow_definition(workflow.name, &version);
	if (present != NULL && compareJsonbContainers(&present->root, &definition->root) == 0)
		return version;
	if (present != NULL && workflow.version > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errproblem("/version", "WORKFLOW_EXISTS"),
				 errmsg("version %d of workflow \"%.*s\" is registered with another definition",
						version, workflow.name.len, workflow.name.s),
				 errhint("A version never changes. Leave the version out to register the next one.")));
	if (workflow.version > 0)
		version = (int) workflow.version;
	else
		version = present != NULL ? version + 1 : 1;
	workflow_insert(workflow.name, version, definition);
	return version;
}
