/*-------------------------------------------------------------------------
 *
 * workflow_fn.c
 *	  Registering and removing workflows, and reading their YAML.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/document.h"
#include "base/yaml.h"
#include "contract/binding.h"
#include "contract/workflow.h"
#include "fmgr.h"
#include "protocol/problem.h"
#include "task/task.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_register_workflow);
PG_FUNCTION_INFO_V1(clutch_unregister_workflow);
PG_FUNCTION_INFO_V1(clutch_workflow_from_yaml);

static Jsonb *
read_yaml(Slice text, const char *argument)
{
	YamlFault	fault;
	Jsonb	   *document = yaml_read(text, &fault);

	if (document == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(argument, "WRONG_FORMAT"),
				 errmsg("invalid YAML at line %d, column %d: %s", fault.line, fault.column, fault.what),
				 errhint("Write a single mapping with nothing in it that JSON does not have: only mappings, sequences, strings, numbers, true, false and null.")));
	return document;
}

/* If the argument is a jsonb string, it contains YAML. */
Datum
clutch_register_workflow(PG_FUNCTION_ARGS)
{
	Jsonb	   *document = argument_jsonb(fcinfo, 0, "workflow");
	JsonbValue	scalar;

	if (JB_ROOT_IS_SCALAR(document) && JsonbExtractScalar(&document->root, &scalar) &&
		scalar.type == jbvString)
		document = read_yaml(document_text(&scalar), "workflow");
	PG_RETURN_INT32(workflow_register(document));
}

Datum
clutch_workflow_from_yaml(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(read_yaml(slice_of_text(PG_GETARG_TEXT_PP(0)), "yaml"));
}

/* ----------------------------------------------------------------- removing */

static void
refuse_removal(Slice name, int version, Slice run_id, int others)
{
	char	   *more = others == 0 ? "" :
		psprintf(" (and %d other run%s)", others, others == 1 ? "" : "s");

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errproblem("version", "WORKFLOW_IN_USE"),
			 errmsg("run \"%.*s\"%s is bound to version %d of workflow \"%.*s\" and is not over",
					run_id.len, run_id.s, more, version, name.len, name.s),
			 errhint("Wait for the end of the run, or cancel it by clutch.cancel_run. If new runs are to follow another definition, it is enough to register that.")));
}

Datum
clutch_unregister_workflow(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "name");
	int			version = argument_count(fcinfo, 1, "version", 0, PG_INT32_MAX, NULL);
	Slice		open_run = SLICE_NONE;
	int			open_runs = 0;
	List	   *runs;
	ListCell   *cell;

	argument_require(fcinfo, 1, "version");
	workflow_begin_removal(name);
	runs = binding_list_runs(name, version);
	foreach(cell, runs)
	{
		Slice		run_id = *(Slice *) lfirst(cell);
		bool		has_tasks;

		if (!task_run_is_over(run_id, &has_tasks) && open_runs++ == 0)
			open_run = run_id;
	}
	if (open_runs > 0)
		refuse_removal(name, version, open_run, open_runs - 1);
	PG_RETURN_BOOL(workflow_remove(name, version, runs != NIL));
}
