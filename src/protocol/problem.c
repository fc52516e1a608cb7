/*-------------------------------------------------------------------------
 *
 * problem.c
 *	  Lists of faults, which show a sender all of them at once.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/problem.h"

#include <ctype.h>

#include "base/text.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/json.h"

/* how many bytes of a key are shown in a path */
#define KEY_SHOWN		256

static ProblemList *
problem_list_with(const Limits *limits)
{
	ProblemList *list = palloc(sizeof(ProblemList));

	/*
	 * The items stay uninitialized, because a list is made for every envelope,
	 * and most lists stay empty.
	 */
	list->limits = limits;
	list->n = 0;
	list->dropped = 0;
	list->is_cut = false;
	return list;
}

ProblemList *
problem_list(void)
{
	return problem_list_with(&clutch_limits);
}

ProblemList *
problem_list_admitted(void)
{
	return problem_list_with(&clutch_limits_admitted);
}

/*
 * Returns a new fault without its message, or NULL if it is there already or
 * there are too many.
 */
static Problem *
problem_new(ProblemList *list, const char *path, const char *code, const char *schema_path)
{
	Problem    *problem;
	int			i;

	/* a number, for example, may be out of range for two reasons */
	for (i = 0; i < list->n; i++)
		if (strcmp(list->items[i].path, path) == 0 &&
			strcmp(list->items[i].code, code) == 0 &&
			(schema_path == NULL || (list->items[i].schema_path != NULL &&
									 strcmp(list->items[i].schema_path, schema_path) == 0)))
			return NULL;
	if (list->n == PROBLEM_MAX)
	{
		list->dropped++;
		return NULL;
	}
	problem = &list->items[list->n++];
	problem->path = pstrdup(path);
	problem->code = code;
	problem->schema_path = schema_path != NULL ? pstrdup(schema_path) : NULL;
	problem->keyword = NULL;
	return problem;
}

void
problem_add(ProblemList *list, const char *path, const char *code,
			const char *format,...)
{
	va_list		args;
	Problem    *problem = problem_new(list, path, code, NULL);

	if (problem == NULL)
		return;
	va_start(args, format);
	problem->message = text_of_format(format, args);
	va_end(args);
}

void
problem_add_broken(ProblemList *list, const char *path, const char *schema_path,
				   const char *keyword, const char *message)
{
	Problem    *problem = problem_new(list, path, "CONTRACT_BROKEN", schema_path);

	if (problem == NULL)
		return;
	problem->keyword = keyword;
	problem->message = pstrdup(message);
}

/* ------------------------------------------------------------------- paths */

char *
problem_path(const char *parent, const char *key, int keylen)
{
	int			shown = keylen;
	StringInfoData buf;
	int			i;

	/*
	 * a hundred faults below one long key must not make a hundred long paths
	 */
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

/* --------------------------------------------------------------- arguments */

/*
 * This adds nothing to the CONTEXT of an error.  It only marks the place of
 * the scope.
 */
static void
problem_arguments_callback(void *arguments)
{
}

void
problem_arguments_begin(ProblemArguments *scope, const ProblemArgument *arguments)
{
	scope->context.callback = problem_arguments_callback;
	scope->context.arg = unconstify(ProblemArgument *, arguments);
	scope->context.previous = error_context_stack;
	error_context_stack = &scope->context;
}

void
problem_arguments_end(ProblemArguments *scope)
{
	error_context_stack = scope->context.previous;
}

/*
 * Returns the arguments of the innermost scope, or NULL outside of any scope.
 */
static const ProblemArgument *
problem_arguments_current(void)
{
	ErrorContextCallback *context = error_context_stack;

	while (context != NULL && context->callback != problem_arguments_callback)
		context = context->previous;
	return context != NULL ? context->arg : NULL;
}

/*
 * Returns the argument to which a path belongs, and the rest of the path, or
 * NULL.
 */
static const char *
problem_argument_of(const char *path, const char **rest)
{
	const ProblemArgument *argument = problem_arguments_current();

	for (; argument != NULL && argument->path != NULL; argument++)
	{
		int			len = strlen(argument->path);

		if (strncmp(path, argument->path, len) == 0 &&
			(path[len] == '\0' || path[len] == '/'))
		{
			*rest = path + len;
			return argument->argument;
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ errors */

static void
problem_append_key(StringInfo buf, const char *key, const char *value)
{
	appendStringInfo(buf, "%s\"%s\": ", buf->data[buf->len - 1] == '{' ? "" : ", ", key);
	escape_json(buf, value);
}

/* Appends the place of a fault as the first keys of a JSON object. */
static void
problem_append_place(StringInfo buf, const char *place)
{
	bool		is_path = place[0] == '\0' || place[0] == '/';
	const char *rest = "";
	const char *argument = is_path ? problem_argument_of(place, &rest) : place;

	if (argument != NULL)
		problem_append_key(buf, "argument", argument);
	if (argument == NULL)
		problem_append_key(buf, "path", place);
	else if (rest[0] != '\0')
		problem_append_key(buf, "path", rest);
}

/* Returns the list as JSON, palloc'd. */
static char *
problem_list_json(const ProblemList *list)
{
	StringInfoData buf;
	int			i;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '[');
	for (i = 0; i < list->n; i++)
	{
		appendStringInfoString(&buf, i > 0 ? ", {" : "{");
		problem_append_place(&buf, list->items[i].path);
		problem_append_key(&buf, "code", list->items[i].code);
		if (list->items[i].schema_path != NULL)
		{
			problem_append_key(&buf, "keyword", list->items[i].keyword);
			problem_append_key(&buf, "schema_path", list->items[i].schema_path);
		}
		problem_append_key(&buf, "message", list->items[i].message);
		appendStringInfoChar(&buf, '}');
	}
	appendStringInfoChar(&buf, ']');
	return buf.data;
}

char *
problem_clause(const char *sentence)
{
	char	   *clause = pstrdup(sentence);
	int			len = strlen(clause);

	if (len > 0 && clause[len - 1] == '.')
		clause[len - 1] = '\0';
	/*
	 * acronyms and quoted names keep their first letter, but the article "A"
	 * does not
	 */
	if (len > 1 && (islower((unsigned char) clause[1]) || clause[1] == ' '))
		clause[0] = tolower((unsigned char) clause[0]);
	return clause;
}

static int
problem_errmsg(const ProblemList *list, const char *document)
{
	const Problem *first = &list->items[0];
	int			n = list->n + list->dropped;
	char	   *clause = problem_clause(first->message);
	const char *rest;
	const char *argument = problem_argument_of(first->path, &rest);

	if (argument != NULL)
		return errmsg("argument \"%s\" is not valid: %s", argument, clause);
	if (n == 1)
		return errmsg("%s is not valid at \"%s\": %s", document, first->path, clause);
	return errmsg("%s is not valid in %s%d places, the first at \"%s\": %s",
				  document, list->is_cut ? "at least " : "", n, first->path, clause);
}

void
problem_raise(const ProblemList *list, int sqlstate, const char *document)
{
	problem_raise_advised(list, sqlstate, document, "");
}

void
problem_raise_advised(const ProblemList *list, int sqlstate, const char *document, const char *advice)
{
	Assert(list->n > 0);
	ereport(ERROR,
			(errcode(sqlstate),
			 problem_errmsg(list, document),
			 errdetail_internal("%s", problem_list_json(list)),
			 list->is_cut ? errhint("The detail lists the first faults; there may be more.%s", advice) :
			 list->dropped == 0 ?
			 errhint("The detail lists each fault with its place, its code and what is expected.%s", advice) :
			 errhint("The detail lists the first %d faults of %d.%s",
					 list->n, list->n + list->dropped, advice)));
}

int
errproblem(const char *place, const char *code)
{
	return errproblem_with(place, code, "");
}

int
errproblem_with(const char *place, const char *code, const char *members)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "[{");
	problem_append_place(&buf, place);
	problem_append_key(&buf, "code", code);
	appendStringInfo(&buf, "%s}]", members);
	return errdetail_internal("%s", buf.data);
}
