/*-------------------------------------------------------------------------
 *
 * rule_fn.c
 *	  The trigger by which backends notice changes of routing rules, and
 *	  functions for the SQL that installs sets of rules.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "routing/phrase.h"
#include "routing/rule.h"

PG_FUNCTION_INFO_V1(clutch_has_word);
PG_FUNCTION_INFO_V1(clutch_rules_changed);

Datum
clutch_has_word(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(phrase_count_words(slice_of_text(PG_GETARG_TEXT_PP(0))) > 0);
}

/* Tells all backends, which cache the rules, to read them again. */
Datum
clutch_rules_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "rules_changed");
	rule_announce();
	PG_RETURN_POINTER(NULL);
}
