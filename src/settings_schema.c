/*-------------------------------------------------------------------------
 *
 * settings_schema.c
 *	  Settings for JSON schemas.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "settings.h"
#include "utils/guc.h"

/*
 * The limits on a schema: its size as jsonb; how deep schemas may nest; how
 * many keywords and subschemas it may have, including those of the documents
 * that it refers to; how many patterns; and the length of each pattern.
 *
 * The limits on checking one value: how many schemas, keywords and comparisons
 * are evaluated, and how deep references may lead.
 */
int			clutch_max_schema_bytes = 256 * 1024;
int			clutch_max_schema_depth = 64;
int			clutch_max_schema_keywords = 10000;
int			clutch_max_schema_patterns = 100;
int			clutch_max_pattern_bytes = 1024;
int			clutch_max_schema_steps = 1000000;
int			clutch_max_schema_recursion = 1000;

/* Whether "format" is checked.  Otherwise it is an annotation only. */
bool		clutch_assert_formats = false;

void
settings_define_schemas(void)
{
	settings_define_integer("clutch.max_schema_bytes", "Sets the maximum size of a schema.",
							&clutch_max_schema_bytes, 256 * 1024, 1024, 16 * 1024 * 1024, GUC_UNIT_BYTE);
	settings_define_integer("clutch.max_schema_depth", "Sets the maximum nesting depth of a schema.",
							&clutch_max_schema_depth, 64, 1, 1000, 0);
	settings_define_integer("clutch.max_schema_keywords",
							"Sets how many keywords a schema may have, including those of the schemas that it refers to.",
							&clutch_max_schema_keywords, 10000, 100, 1000000, 0);
	settings_define_integer("clutch.max_schema_patterns", "Sets how many patterns a schema may have.",
							&clutch_max_schema_patterns, 100, 0, 10000, 0);
	settings_define_integer("clutch.max_pattern_bytes", "Sets the maximum length of a pattern.",
							&clutch_max_pattern_bytes, 1024, 16, 65536, GUC_UNIT_BYTE);
	settings_define_integer("clutch.max_schema_steps",
							"Sets how many steps the check of one value may take.",
							&clutch_max_schema_steps, 1000000, 1000, PG_INT32_MAX, 0);
	settings_define_integer("clutch.max_schema_recursion",
							"Sets how deep schemas may nest in the check of one value.",
							&clutch_max_schema_recursion, 1000, 10, 100000, 0);
	DefineCustomBoolVariable("clutch.assert_formats",
							 "Checks the keyword \"format\" of schemas.", NULL,
							 &clutch_assert_formats, false, PGC_SUSET, 0, NULL, NULL, NULL);
}
