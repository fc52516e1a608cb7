/*-------------------------------------------------------------------------
 *
 * trust_fn.c
 *	  The SQL function canonical.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "fmgr.h"
#include "protocol/canonical.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(clutch_canonical);

Datum
clutch_canonical(PG_FUNCTION_ARGS)
{
	ProblemList *list = problem_list();
	StringInfoData out;

	initStringInfo(&out);
	canonical_append(&out, PG_GETARG_JSONB_P(0), CANONICAL_ROUNDED, NULL, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "document");
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}
