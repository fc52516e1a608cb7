/*-------------------------------------------------------------------------
 *
 * workflow_fn.c
 *	  The SQL functions register_workflow and workflow_from_yaml.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/yaml.h"
#include "contract/workflow.h"
#include "fmgr.h"
#include "protocol/problem.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_register_workflow);
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
				 errhint("Write one mapping of what JSON has as well: mappings, sequences, strings, numbers, true, false and null.")));
	return document;
}

/* A string of jsonb contains YAML. */
Datum
clutch_register_workflow(PG_FUNCTION_ARGS)
{
	Jsonb	   *document;
	JsonbValue	scalar;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errproblem("workflow", "NULL_VALUE"),
				 errmsg("argument \"workflow\" must not be null")));
	document = PG_GETARG_JSONB_P(0);
	if (JB_ROOT_IS_SCALAR(document) && JsonbExtractScalar(&document->root, &scalar) &&
		scalar.type == jbvString)
		document = read_yaml((Slice) {scalar.val.string.val, scalar.val.string.len}, "workflow");
	PG_RETURN_INT32(workflow_register(document));
}

Datum
clutch_workflow_from_yaml(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(read_yaml(slice_of_text(PG_GETARG_TEXT_PP(0)), "yaml"));
}
