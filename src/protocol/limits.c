/*-------------------------------------------------------------------------
 *
 * limits.c
 *	  Limits on the size, the depth and the number of values of a document.
 *
 * The walk reads the entries of the containers directly.  JsonbIterator would
 * allocate an iterator for each container and unpack each string, although
 * strings are needed only to report faults.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/limits.h"

#include "base/number.h"
#include "compat.h"
#include "miscadmin.h"

/*
 * one of the containers that enclose the current value, for the path of a
 * fault
 */
typedef struct LimitsLevel
{
	const struct LimitsLevel *up;
	const JsonbContainer *container;
	int			child;			/* index of the child being looked at */
} LimitsLevel;

typedef struct LimitsWalk
{
	int64		nodes;			/* number of values in the containers so far;
								 * beyond the limit, no more are walked */
	bool		too_deep;		/* a fault for this has been reported */
	ProblemList *list;
} LimitsWalk;

static char *
limits_path(const LimitsLevel *level)
{
	const JsonbContainer *container;
	const char *keys;
	char	   *parent;

	if (level == NULL)
		return "";
	parent = limits_path(level->up);
	container = level->container;
	if (JsonContainerIsArray(container))
		return problem_path_index(parent, level->child);

	keys = (const char *) &container->children[2 * JsonContainerSize(container)];
	return problem_path(parent, keys + getJsonbOffset(container, level->child),
						getJsonbLength(container, level->child));
}

static void
limits_check_number(const LimitsLevel *level, Numeric number, LimitsWalk *walk)
{
	bool		fits = number_fits_double(number);

	if ((fits && !number_is_too_long(number)) || problem_is_beyond(walk->list))
		return;
	if (!fits)
		problem_add(walk->list, limits_path(level), "NUMBER_OUT_OF_RANGE",
					"The number is out of range for a double (about 1.8e308); "
					"send a smaller one or, in a payload, a string.");
	else
		problem_add(walk->list, limits_path(level), "NUMBER_TOO_LONG",
					"The number has more than %d digits after the point; round it or, in a payload, send it as a string.", NUMBER_MOST_DECIMALS);
}

static void limits_check_container(const LimitsLevel *up, const JsonbContainer *container,
								   int depth, LimitsWalk *walk);

/* Checks a value that is neither a string nor a word; those need no check. */
static void
limits_check_value(const LimitsLevel *level, JEntry entry, const char *value, int depth,
				   LimitsWalk *walk)
{
	CHECK_FOR_INTERRUPTS();
	if (JBE_ISCONTAINER(entry))
		limits_check_container(level, (const JsonbContainer *) value, depth + 1, walk);
	else
		limits_check_number(level, (Numeric) value, walk);
}

static void
limits_check_container(const LimitsLevel *up, const JsonbContainer *container, int depth,
					   LimitsWalk *walk)
{
	const Limits *limits = walk->list->limits;
	int			n = JsonContainerSize(container);
	int			keys = JsonContainerIsObject(container) ? n : 0;
	const JEntry *entries = &container->children[keys];	/* entries of the values, which follow those of the keys */
	const char *data = (const char *) &entries[n];
	uint32		offset = keys > 0 ? getJsonbOffset(container, keys) : 0;
	LimitsLevel level = {up, container, 0};
	int			i;

	check_stack_depth();

	if (depth > limits->max_depth)
	{
		if (!walk->too_deep)
			problem_add(walk->list, limits_path(up), "TOO_DEEP",
						"The document is nested deeper than the limit of %d levels "
						"(setting clutch.max_depth).", limits->max_depth);
		walk->too_deep = true;
		return;
	}
	walk->nodes += n;
	if (walk->nodes > limits->max_nodes)
		return;

	for (i = 0; i < n; i++)
	{
		JEntry		entry = entries[i];

		if (JBE_ISCONTAINER(entry) || JBE_ISNUMERIC(entry))
		{
			level.child = i;
			limits_check_value(&level, entry, data + INTALIGN(offset), depth, walk);
		}
		JBE_ADVANCE_OFFSET(offset, entry);
	}
}

void
limits_check(Jsonb *doc, const char *advice, ProblemList *list)
{
	LimitsWalk	walk = {.list = list};

	/*
	 * do not walk a document that is too large, because the limit is there to
	 * save that time
	 */
	if (VARSIZE(doc) > list->limits->max_envelope_bytes)
	{
		problem_add(list, "", "TOO_LARGE",
					"The document has %u bytes as jsonb; the limit is %d (setting "
					"clutch.max_envelope_bytes).%s",
					(unsigned) VARSIZE(doc), list->limits->max_envelope_bytes, advice);
		return;
	}
	limits_check_container(NULL, &doc->root, 1, &walk);
	if (walk.nodes > list->limits->max_nodes)
		problem_add(list, "", "TOO_MANY_NODES",
					"The document contains more values than the limit of %d "
					"(setting clutch.max_nodes).", list->limits->max_nodes);
}
