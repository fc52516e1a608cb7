/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  Which events a reader of the log wants.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/document.h"
#include "feed/filter.h"
#include "fmgr.h"
#include "protocol/problem.h"
#include "registry/roster.h"
#include "store/event.h"
#include "task/task.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonpath.h"

#define NAMES	"type, thread_id, run_id, task_id, agent, topic, domain, payload_type, path"

/* --------------------------------------------------------------- reading */

static void
fault(ProblemList *list, Slice key, const char *code, const char *message)
{
	problem_add(list, problem_path("", key.s, key.len), code, "%s", message);
}

static void
read_texts(const JsonbValue *value, Slice key, SliceList *texts, ProblemList *list)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	element;

	if (value->type == jbvString)
	{
		texts->items = palloc(sizeof(Slice));
		texts->items[texts->n++] = (Slice) {value->val.string.val, value->val.string.len};
		return;
	}
	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
	{
		fault(list, key, "WRONG_TYPE", "must be a text or a list of texts");
		return;
	}
	texts->items = palloc(sizeof(Slice) * (JsonContainerSize(value->val.binary.data) + 1));
	it = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &element, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (element.type == jbvString)
			texts->items[texts->n++] = (Slice) {element.val.string.val, element.val.string.len};
		else
			fault(list, key, "WRONG_TYPE", "must be a text or a list of texts");
	}
	if (texts->n == 0)
		fault(list, key, "EMPTY", "names nothing; leave it out to want any");
}

/*
 * The first that a path finds; NULL: nothing, or it cannot be applied.  By the
 * function that knows time zones: the other one raises where it would need one,
 * whatever it is told.
 */
static Jsonb *
find_first(struct varlena *path, Jsonb *document)
{
	LOCAL_FCINFO(fcinfo, 4);
	FmgrInfo	function;
	DocumentBuilder none;
	Datum		found;

	document_begin(&none);
	fmgr_info(F_JSONB_PATH_QUERY_FIRST_TZ, &function);
	InitFunctionCallInfoData(*fcinfo, &function, 4, InvalidOid, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {JsonbPGetDatum(document), false};
	fcinfo->args[1] = (NullableDatum) {PointerGetDatum(path), false};
	fcinfo->args[2] = (NullableDatum) {JsonbPGetDatum(document_end(&none)), false};
	fcinfo->args[3] = (NullableDatum) {BoolGetDatum(true), false};
	found = FunctionCallInvoke(fcinfo);
	return fcinfo->isnull ? NULL : DatumGetJsonbP(found);
}

static struct varlena *
parse_path(char *text)
{
	return (struct varlena *) DatumGetPointer(DirectFunctionCall1(jsonpath_in, CStringGetDatum(text)));
}

static char *
path_text(struct varlena *path)
{
	return DatumGetCString(DirectFunctionCall1(jsonpath_out, PointerGetDatum(path)));
}

/* behind a string or a name, in the server's own spelling */
static const char *
end_of_quoted(const char *quote)
{
	const char *at;

	for (at = quote + 1; *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at + 1;
}

/*
 * .method(literals), if that is what begins there, applied to some text: what
 * the server says of the literals, like a format of datetime() that is none, it
 * says whatever they are applied to.  Returns where to go on.
 */
static const char *
try_method(const char *dot)
{
	const char *at = dot + 1;

	while (*at >= 'a' && *at <= 'z')
		at++;
	if (at == dot + 1 || *at != '(')
		return dot + 1;
	while (*at != ')')
		at = *at == '"' ? end_of_quoted(at) : at + 1;
	(void) find_first(parse_path(psprintf("$%.*s)", (int) (at - dot), dot)),
					  DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("\"1\""))));
	return at + 1;
}

static void
try_methods(struct varlena *path)
{
	const char *at = path_text(path);

	while (*at != '\0')
	{
		if (*at == '"')
			at = end_of_quoted(at);
		else
			at = *at == '.' ? try_method(at) : at + 1;
	}
}

/* in the server's own spelling $x is $"x", and what begins with a quote is a string */
static bool
names_variable(struct varlena *path)
{
	const char *at = path_text(path);

	while (*at != '\0')
	{
		if (at[0] == '$' && at[1] == '"')
			return true;
		at = *at == '"' ? end_of_quoted(at) : at + 1;
	}
	return false;
}

/* true, false, or unknown, which it is of what it cannot apply to */
static bool
is_predicate(struct varlena *path)
{
	JsonPathItem root;

	jspInit(&root, (JsonPath *) path);
	switch (root.type)
	{
		case jpiAnd:
		case jpiOr:
		case jpiNot:
		case jpiIsUnknown:
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
		case jpiExists:
		case jpiStartsWith:
		case jpiLikeRegex:
			return !jspHasNext(&root);
		default:
			return false;
	}
}

/*
 * A path with a mistake is refused by the server, which says where it is; a
 * variable, or a method's mistake, would be only when it is met, by every reader
 * from then on.
 */
static void
read_path(const JsonbValue *value, Slice key, Filter *filter, ProblemList *list)
{
	if (value->type != jbvString)
	{
		fault(list, key, "WRONG_TYPE", "must be a text, an SQL/JSON path such as $.payload ? (@.total > 100)");
		return;
	}
	filter->path = parse_path(pnstrdup(value->val.string.val, value->val.string.len));
	if (names_variable(filter->path))
		fault(list, key, "WRONG_VALUE", "names a variable, and there are none: write the value itself");
	try_methods(filter->path);
	filter->path_is_predicate = is_predicate(filter->path);
}

static void
read_key(Slice key, const JsonbValue *value, Filter *filter, ProblemList *list)
{
	struct
	{
		Slice		name;
		SliceList  *texts;
	}			keys[] = {
		{SLICE_OF("type"), &filter->types}, {SLICE_OF("thread_id"), &filter->threads},
		{SLICE_OF("run_id"), &filter->runs}, {SLICE_OF("task_id"), &filter->tasks},
		{SLICE_OF("agent"), &filter->agents}, {SLICE_OF("topic"), &filter->topics},
		{SLICE_OF("domain"), &filter->domains}, {SLICE_OF("payload_type"), &filter->payload_types}
	};
	int			i;

	for (i = 0; i < lengthof(keys); i++)
		if (slice_equal(key, keys[i].name))
		{
			read_texts(value, key, keys[i].texts, list);
			return;
		}
	if (slice_equal(key, SLICE_OF("path")))
		read_path(value, key, filter, list);
	else
		fault(list, key, "UNKNOWN_FIELD", "is nothing that a filter looks at (known: " NAMES ")");
}

/* a topic may be named with its prefix or without */
static void
complete_topics(Filter *filter)
{
	int			i;

	for (i = 0; i < filter->topics.n; i++)
	{
		Slice	   *topic = &filter->topics.items[i];

		if (!slice_starts(*topic, SLICE_OF("topic:")))
			*topic = slice_of_cstring(psprintf("topic:%.*s", topic->len, topic->s));
	}
}

/* the agents, their groups as they are now, and everybody */
static void
find_inboxes(Filter *filter)
{
	Roster	   *roster = roster_get();
	int			room = filter->agents.n + 1;
	int			i;
	int			j;

	if (filter->agents.n == 0)
		return;
	for (i = 0; i < filter->agents.n; i++)
	{
		int			ordinal = roster_find(roster, filter->agents.items[i]);

		room += ordinal < 0 ? 0 : roster_agent(roster, ordinal)->card.groups.n;
	}
	filter->inboxes.items = palloc(sizeof(Slice) * room);
	filter->inboxes.items[filter->inboxes.n++] = SLICE_OF("group:*");
	for (i = 0; i < filter->agents.n; i++)
	{
		int			ordinal = roster_find(roster, filter->agents.items[i]);
		const SliceList *groups = ordinal < 0 ? NULL : &roster_agent(roster, ordinal)->card.groups;

		filter->inboxes.items[filter->inboxes.n++] = filter->agents.items[i];
		for (j = 0; groups != NULL && j < groups->n; j++)
			filter->inboxes.items[filter->inboxes.n++] = slice_copy(groups->items[j]);
	}
}

void
filter_read(Jsonb *document, Filter *filter)
{
	ProblemList *list = problem_list();
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;
	JsonbValue	key = {0};

	memset(filter, 0, sizeof(*filter));
	if (!JB_ROOT_IS_OBJECT(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("", "WRONG_TYPE"),
				 errmsg("a filter is a JSON object"),
				 errhint("Write {} for all events, or {\"type\": \"chat.message\"}.")));
	it = JsonbIteratorInit(&document->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = value;
		else if (token == WJB_VALUE)
			read_key((Slice) {key.val.string.val, key.val.string.len}, &value, filter, list);
	}
	if (list->n > 0)
		problem_raise(list, ERRCODE_INVALID_PARAMETER_VALUE, "filter");
	complete_topics(filter);
	find_inboxes(filter);
}

/* --------------------------------------------------------------- fitting */

static bool
is_one_of(const SliceList *wanted, Slice text)
{
	int			i;

	if (wanted->n == 0)
		return true;
	for (i = 0; i < wanted->n; i++)
		if (slice_equal(wanted->items[i], text))
			return true;
	return false;
}

static bool
is_type_of(const SliceList *wanted, Slice type)
{
	int			i;

	if (is_one_of(wanted, type))
		return true;
	for (i = 0; i < wanted->n; i++)
	{
		Slice		family = wanted->items[i];

		if (family.len == 0 || family.s[family.len - 1] != '*')
			continue;
		family.len--;
		if (slice_starts(type, family))
			return true;
	}
	return false;
}

static bool
reaches(const SliceList *wanted, const SliceList *recipients)
{
	int			i;

	for (i = 0; i < recipients->n; i++)
		if (is_one_of(wanted, recipients->items[i]))
			return true;
	return false;
}

/* the request of a task that one of them has or had by now, whoever it was sent to */
static bool
is_given(const SliceList *agents, const RowScan *event)
{
	Task	   *task;
	int			i;

	if (message_type_parse(rows_text(event, Anum_event_type)) != MSG_TASK_REQUEST)
		return false;
	task = task_look(rows_text(event, Anum_event_task_id), ROWS_LATEST);
	for (i = 0; task != NULL && i < agents->n; i++)
		if (task_was_with(task, agents->items[i]))
			return true;
	return false;
}

static bool
is_addressed(const Filter *filter, const RowScan *event)
{
	SliceList	recipients;
	bool		isnull;

	if (filter->inboxes.n == 0 && filter->topics.n == 0)
		return true;
	recipients = column_texts_of(rows_datum(event, Anum_event_to_agents, &isnull));
	return (filter->inboxes.n == 0 || reaches(&filter->inboxes, &recipients) ||
			is_given(&filter->agents, event)) &&
		(filter->topics.n == 0 || reaches(&filter->topics, &recipients));
}

/*
 * Found something: a boolean counts as itself, what is unknown as false, and
 * anything else as true.
 */
static bool
has_path(const Filter *filter, Jsonb *envelope)
{
	Jsonb	   *answer = find_first(filter->path, envelope);
	JsonbValue	scalar;

	return answer != NULL &&
		!(JsonbExtractScalar(&answer->root, &scalar) &&
		  ((scalar.type == jbvBool && !scalar.val.boolean) ||
		   (scalar.type == jbvNull && filter->path_is_predicate)));
}

bool
filter_fits(const Filter *filter, const RowScan *event)
{
	return is_type_of(&filter->types, rows_text(event, Anum_event_type)) &&
		is_one_of(&filter->threads, rows_text(event, Anum_event_thread_id)) &&
		is_one_of(&filter->runs, rows_text(event, Anum_event_run_id)) &&
		is_one_of(&filter->tasks, rows_text(event, Anum_event_task_id)) &&
		is_one_of(&filter->domains, rows_text(event, Anum_event_domain)) &&
		is_one_of(&filter->payload_types, rows_text(event, Anum_event_payload_type)) &&
		is_addressed(filter, event) &&
		(filter->path == NULL || has_path(filter, rows_jsonb(event, Anum_event_envelope)));
}
