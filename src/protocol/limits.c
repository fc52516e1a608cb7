/*-------------------------------------------------------------------------
 *
 * limits.c
 *	  How large, how deep and how full a document may be.
 *
 * The walk reads the entries of the containers themselves: JsonbIterator
 * allocates for each container and unpacks each string, and nothing here
 * asks for a string until there is a fault to tell.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/limits.h"

#include "compat.h"
#include "miscadmin.h"
#include "protocol/number.h"
#include "settings.h"

/* a container on the way down, for the path of a fault */
typedef struct Level
{
	const struct Level *up;
	const JsonbContainer *container;
	int			child;			/* the one being looked at */
} Level;

typedef struct Walk
{
	int64		nodes;
	bool		too_deep;		/* said once */
	bool		too_many;
	ProblemList *list;
} Walk;

static char *
path_of(const Level *level)
{
	const JsonbContainer *container;
	const char *keys;
	char	   *parent;

	if (level == NULL)
		return "";
	parent = path_of(level->up);
	container = level->container;
	if (JsonContainerIsArray(container))
		return problem_path_index(parent, level->child);

	keys = (const char *) &container->children[2 * JsonContainerSize(container)];
	return problem_path(parent, keys + getJsonbOffset(container, level->child),
						getJsonbLength(container, level->child));
}

static void
check_number(const Level *level, Numeric number, Walk *walk)
{
	if (number_fits_double(number))
		return;
	problem_add(walk->list, path_of(level), "NUMBER_OUT_OF_RANGE",
				"The number is beyond the range of a double (about 1.8e308); "
				"send it as a string.");
}

static void
check_container(const Level *up, const JsonbContainer *container, int depth, Walk *walk)
{
	bool		is_object = JsonContainerIsObject(container);
	int			n = JsonContainerSize(container);
	int			first = is_object ? n : 0;	/* the values follow the keys */
	const char *data = (const char *) &container->children[first + n];
	uint32		offset = is_object && n > 0 ? getJsonbOffset(container, n) : 0;
	Level		level = {up, container, 0};

	check_stack_depth();

	if (depth > clutch_max_depth)
	{
		if (!walk->too_deep)
			problem_add(walk->list, path_of(up), "TOO_DEEP",
						"The document is nested deeper than %d levels, the limit "
						"(setting clutch.max_depth).", clutch_max_depth);
		walk->too_deep = true;
		return;
	}
	walk->nodes += n;
	walk->too_many = walk->nodes > clutch_max_nodes;

	for (; level.child < n && !walk->too_many; level.child++)
	{
		JEntry		entry = container->children[first + level.child];
		const char *value = data + INTALIGN(offset);

		if (JBE_ISNUMERIC(entry))
			check_number(&level, (Numeric) value, walk);
		else if (JBE_ISCONTAINER(entry))
			check_container(&level, (const JsonbContainer *) value, depth + 1, walk);
		JBE_ADVANCE_OFFSET(offset, entry);
	}
}

void
limits_check(Jsonb *doc, ProblemList *list)
{
	Walk		walk = {.list = list};

	/* what is too large is not walked: the limit is there to spare the time */
	if (VARSIZE(doc) > clutch_max_envelope_bytes)
	{
		problem_add(list, "", "TOO_LARGE",
					"The document has %u bytes as jsonb; the limit is %d (setting "
					"clutch.max_envelope_bytes). Put large content into an artifact "
					"and name it in \"attachments\".",
					(unsigned) VARSIZE(doc), clutch_max_envelope_bytes);
		return;
	}
	check_container(NULL, &doc->root, 1, &walk);
	if (walk.too_many)
		problem_add(list, "", "TOO_MANY_NODES",
					"The document holds more than %d values, the limit "
					"(setting clutch.max_nodes).", clutch_max_nodes);
}

/* -------------------------------------------------------- what was admitted */

static int *const settings[lengthof(((Limits *) NULL)->values)] = {
	&clutch_max_envelope_bytes, &clutch_max_depth, &clutch_max_nodes, &clutch_max_id_bytes,
	&clutch_max_string_bytes, &clutch_max_recipients, &clutch_max_list
};

Limits
limits_lift(void)
{
	Limits		limits;
	int			i;

	for (i = 0; i < lengthof(settings); i++)
	{
		limits.values[i] = *settings[i];
		*settings[i] = PG_INT32_MAX;
	}
	/* no setting goes higher */
	clutch_max_id_bytes = MAX_ID_BYTES;
	return limits;
}

void
limits_restore(const Limits *limits)
{
	int			i;

	for (i = 0; i < lengthof(settings); i++)
		*settings[i] = limits->values[i];
}
