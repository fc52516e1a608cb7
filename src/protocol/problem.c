/*-------------------------------------------------------------------------
 *
 * problem.c
 *	  A list of faults, so that a sender hears of all of them at once.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/problem.h"

#include <ctype.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/json.h"

/* bytes of a key that a path shows */
#define KEY_SHOWN		256

ProblemList *
problem_list(void)
{
	ProblemList *list = palloc(sizeof(ProblemList));

	/* items stay unset: a list is made for every envelope, most stay empty */
	list->n = 0;
	list->dropped = 0;
	return list;
}

static char *format_message(const char *format, va_list args) pg_attribute_printf(1, 0);

static char *
format_message(const char *format, va_list args)
{
	int			save_errno = errno;
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		again;
		int			needed;

		va_copy(again, args);
		errno = save_errno;
		needed = appendStringInfoVA(&buf, format, again);
		va_end(again);
		if (needed == 0)
			return buf.data;
		enlargeStringInfo(&buf, needed);
	}
}

void
problem_add(ProblemList *list, const char *path, const char *code,
			const char *format,...)
{
	va_list		args;
	Problem    *problem;
	int			i;

	/* said once is enough: a number may be too large for two reasons */
	for (i = 0; i < list->n; i++)
		if (strcmp(list->items[i].path, path) == 0 &&
			strcmp(list->items[i].code, code) == 0)
			return;
	if (list->n == PROBLEM_MAX)
	{
		list->dropped++;
		return;
	}
	problem = &list->items[list->n++];
	problem->path = pstrdup(path);
	problem->code = code;
	va_start(args, format);
	problem->message = format_message(format, args);
	va_end(args);
}

char *
problem_path(const char *parent, const char *key, int keylen)
{
	int			shown = keylen;
	StringInfoData buf;
	int			i;

	/* one long key above a hundred faults must not make a hundred long paths */
	if (keylen > KEY_SHOWN)
		shown = pg_mbcliplen(key, keylen, KEY_SHOWN);

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s/", parent);
	for (i = 0; i < shown; i++)
	{
		if (key[i] == '~')
			appendStringInfoString(&buf, "~0");
		else if (key[i] == '/')
			appendStringInfoString(&buf, "~1");
		else
			appendStringInfoChar(&buf, key[i]);
	}
	if (shown < keylen)
		appendStringInfoString(&buf, "...");
	return buf.data;
}

char *
problem_path_index(const char *parent, int index)
{
	return psprintf("%s/%d", parent, index);
}

static void
append_json(StringInfo buf, const char *path, const char *code, const char *message)
{
	appendStringInfoString(buf, "{\"path\": ");
	escape_json(buf, path);
	appendStringInfoString(buf, ", \"code\": ");
	escape_json(buf, code);
	appendStringInfoString(buf, ", \"message\": ");
	escape_json(buf, message);
	appendStringInfoChar(buf, '}');
}

/* palloc'd */
static char *
json_of(const ProblemList *list)
{
	StringInfoData buf;
	int			i;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '[');
	for (i = 0; i < list->n; i++)
	{
		if (i > 0)
			appendStringInfoString(&buf, ", ");
		append_json(&buf, list->items[i].path, list->items[i].code,
					list->items[i].message);
	}
	appendStringInfoChar(&buf, ']');
	return buf.data;
}

/* a sentence made fit to end a primary message, which takes no full stop */
static char *
without_full_stop(const char *sentence)
{
	char	   *clause = pstrdup(sentence);
	int			len = strlen(clause);

	if (len > 0 && clause[len - 1] == '.')
		clause[len - 1] = '\0';
	/* no lower case for what is an acronym or begins with a quote */
	if (len > 1 && islower((unsigned char) clause[1]))
		clause[0] = tolower((unsigned char) clause[0]);
	return clause;
}

void
problem_raise(const ProblemList *list, int sqlstate, const char *document)
{
	const Problem *first = &list->items[0];
	int			others = list->n + list->dropped - 1;
	char	   *clause = without_full_stop(first->message);

	Assert(list->n > 0);
	ereport(ERROR,
			(errcode(sqlstate),
			 others == 0 ?
			 errmsg("%s is not valid at \"%s\": %s", document, first->path, clause) :
			 errmsg("%s is not valid in %d places, the first at \"%s\": %s",
					document, others + 1, first->path, clause),
			 errdetail_internal("%s", json_of(list)),
			 list->dropped == 0 ?
			 errhint("The detail lists each fault with its path, code and what is expected.") :
			 errhint("The detail lists the first %d faults of %d.",
					 list->n, list->n + list->dropped)));
}

int
errproblem(const char *place, const char *code)
{
	bool		is_path = place[0] == '\0' || place[0] == '/';
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "[{\"%s\": ", is_path ? "path" : "argument");
	escape_json(&buf, place);
	appendStringInfoString(&buf, ", \"code\": ");
	escape_json(&buf, code);
	appendStringInfoString(&buf, "}]");
	return errdetail_internal("%s", buf.data);
}
