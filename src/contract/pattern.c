/*-------------------------------------------------------------------------
 *
 * pattern.c
 *	  Patterns: the regular expressions of schemas (ECMA-262), run by
 *	  PostgreSQL's engine.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/pattern.h"

#include "base/collation.h"
#include "contract/pattern_part.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "settings.h"
#include "utils/memutils.h"

struct Pattern
{
	Slice		source;
	PatternReach reach;
	regex_t		regex;
	bool		compiled;		/* the regex has allocated memory */
	MemoryContextCallback callback;
};

/* Before PostgreSQL 16, the memory of a regex is not palloc'd. */
static void
pattern_free(void *arg)
{
	Pattern    *pattern = arg;

	if (pattern->compiled)
		pg_regfree(&pattern->regex);
	pattern->compiled = false;
}

static pg_wchar *
pattern_wide(Slice text, int *len)
{
	pg_wchar   *wide = palloc(sizeof(pg_wchar) * (text.len + 1));

	*len = pg_mb2wchar_with_len(text.s, wide, text.len);
	return wide;
}

static const char *
pattern_error(const Pattern *pattern, int status)
{
	char		message[100];

	pg_regerror(status, &pattern->regex, message, sizeof(message));
	return psprintf("is not a regular expression that PostgreSQL can run: %s.", message);
}

Pattern *
pattern_compile(Slice source, const char **fault)
{
	Pattern    *pattern = palloc0(sizeof(Pattern));
	char	   *translated = pattern_translate(source, &pattern->reach, fault);
	pg_wchar   *wide;
	int			len;
	int			status;

	if (translated == NULL)
		return NULL;
	pattern->source = source;
	pattern->callback.func = pattern_free;
	pattern->callback.arg = pattern;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &pattern->callback);
	wide = pattern_wide(slice_of_cstring(translated), &len);
	status = pg_regcomp(&pattern->regex, wide, len, REG_ADVANCED | REG_NOSUB,
						collation_of_letters());
	pfree(wide);
	/* if the compilation was cancelled, raise that error */
	CHECK_FOR_INTERRUPTS();
	if (status != REG_OKAY)
	{
		*fault = pattern_error(pattern, status);
		return NULL;
	}
	pattern->compiled = true;
	return pattern;
}

bool
pattern_is_valid(Slice source)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch pattern",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	const char *fault;
	bool		valid = source.len <= clutch_max_pattern_bytes &&
		pattern_compile(source, &fault) != NULL;

	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return valid;
}

Slice
pattern_source(const Pattern *pattern)
{
	return pattern->source;
}

int64
pattern_steps(const Pattern *pattern, Slice text)
{
	double		looked_at = 0;
	int			power;

	for (power = PATTERN_POWERS - 1; power >= 0; power--)
		looked_at = looked_at * text.len + pattern->reach.powers[power];
	return 1 + text.len / 8 + (int64) Min(looked_at * text.len / 256, PG_INT32_MAX);
}

bool
pattern_matches(const Pattern *pattern, Slice text)
{
	int			len;
	pg_wchar   *wide = pattern_wide(text, &len);
	int			status = pg_regexec(unconstify(regex_t *, &pattern->regex), wide, len, 0, NULL,
									0, NULL, 0);

	pfree(wide);
	/* if the search was cancelled, raise that error */
	CHECK_FOR_INTERRUPTS();
	if (status != REG_OKAY && status != REG_NOMATCH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_REGULAR_EXPRESSION),
				 errmsg("a pattern of a schema could not be matched: %s",
						pattern_error(pattern, status)),
				 errhint("Simplify the pattern \"%.*s\".",
						 pattern->source.len, pattern->source.s)));
	return status == REG_OKAY;
}
