/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  Filters: which events a reader of the log wants.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/document.h"
#include "feed/filter.h"
#include "lib/stringinfo.h"
#include "protocol/message_type.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "registry/roster.h"
#include "store/event.h"
#include "task/task.h"

/* a key whose value is a text or a list of texts */
typedef struct TextKey
{
	Slice		name;
	size_t		offset;			/* offset of its SliceList in a Filter */
} TextKey;

#define TEXT_KEY(name, field)	{{name, sizeof(name) - 1}, offsetof(Filter, field)}

static const TextKey text_keys[] = {
	TEXT_KEY("type", types),
	TEXT_KEY("thread_id", threads),
	TEXT_KEY("run_id", runs),
	TEXT_KEY("task_id", tasks),
	TEXT_KEY("agent", agents),
	TEXT_KEY("topic", topics),
	TEXT_KEY("domain", domains),
	TEXT_KEY("payload_type", payload_types),
};

/* ------------------------------------------------------------ reading a key */

static char *
filter_key_path(Slice key)
{
	return problem_path("", key.s, key.len);
}

static void
filter_add_text(SliceList *texts, const JsonbValue *value)
{
	texts->items[texts->n++] = document_text(value);
}

static void
filter_fault_not_texts(ProblemList *list, Slice key)
{
	problem_add(list, filter_key_path(key), "WRONG_TYPE",
				"\"%.*s\" must be a text or a list of texts.",
				key.len, key.s);
}

static void
filter_read_texts(const JsonbValue *value, Slice key, SliceList *texts, ProblemList *list)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	element;

	if (value->type == jbvString)
	{
		texts->items = palloc(sizeof(Slice));
		filter_add_text(texts, value);
		return;
	}
	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
	{
		filter_fault_not_texts(list, key);
		return;
	}
	texts->items = palloc(sizeof(Slice) * (JsonContainerSize(value->val.binary.data) + 1));
	it = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &element, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (element.type == jbvString)
			filter_add_text(texts, &element);
		else
			filter_fault_not_texts(list, key);
	}
	if (texts->n == 0)
		problem_add(list, filter_key_path(key), "EMPTY",
					"\"%.*s\" must not be empty; leave it out to get any.", key.len, key.s);
}

static void
filter_read_path(const JsonbValue *value, Slice key, Filter *filter, ProblemList *list)
{
	const char *fault;

	if (value->type != jbvString)
	{
		problem_add(list, filter_key_path(key), "WRONG_TYPE",
					"\"path\" must be a text, an SQL/JSON path such as $.payload ? (@.total > 100).");
		return;
	}
	fault = path_read(document_text(value), &filter->path);
	if (fault != NULL)
		problem_add(list, filter_key_path(key), "WRONG_VALUE", "\"path\" %s.", fault);
}

static char *
filter_list_keys(void)
{
	StringInfoData names;
	int			i;

	initStringInfo(&names);
	for (i = 0; i < lengthof(text_keys); i++)
		appendStringInfo(&names, "%s, ", text_keys[i].name.s);
	appendStringInfoString(&names, "path");
	return names.data;
}

static void
filter_read_key(Slice key, const JsonbValue *value, Filter *filter, ProblemList *list)
{
	int			i;

	for (i = 0; i < lengthof(text_keys); i++)
		if (slice_equal(key, text_keys[i].name))
		{
			filter_read_texts(value, key, (SliceList *) ((char *) filter + text_keys[i].offset),
							  list);
			return;
		}
	if (slice_equal(key, SLICE_OF("path")))
		filter_read_path(value, key, filter, list);
	else
		problem_add(list, filter_key_path(key), "UNKNOWN_FIELD",
					"A filter has no key %s; its keys are %s.",
					place_quote(key), filter_list_keys());
}

/* ---------------------------------------------------- completing the filter */

/*
 * Is the type a family like "task.*"?  If so, *prefix is set to what its types
 * begin with.
 */
static bool
filter_type_is_family(Slice type, Slice *prefix)
{
	if (type.len == 0 || type.s[type.len - 1] != '*')
		return false;
	*prefix = (Slice) {type.s, type.len - 1};
	return true;
}

static bool
filter_type_is_known(Slice type)
{
	MessageType known;
	Slice		prefix;

	if (!filter_type_is_family(type, &prefix))
		return message_type_parse(type) != MSG_UNKNOWN;
	for (known = 0; known < MSG_UNKNOWN; known++)
		if (slice_starts(slice_of_cstring(message_type_name(known)), prefix))
			return true;
	return false;
}

/*
 * Checks the types.  A misspelled one would match nothing, silently and
 * forever.
 */
static void
filter_check_types(const Filter *filter, ProblemList *list)
{
	int			i;

	for (i = 0; i < filter->types.n; i++)
	{
		Slice		type = filter->types.items[i];
		MessageType nearest = message_type_nearest(type);

		if (filter_type_is_known(type))
			continue;
		if (nearest != MSG_UNKNOWN)
			problem_add(list, "/type", "UNKNOWN_TYPE",
						"There is no message type %s; perhaps you meant \"%s\".",
						place_quote(type), message_type_name(nearest));
		else
			problem_add(list, "/type", "UNKNOWN_TYPE", "There is no message type %s; the types are %s.",
						place_quote(type), message_type_list());
	}
}

/*
 * Checks the agents.  An agent or group without its prefix would match
 * nothing, too.
 */
static void
filter_check_agents(const Filter *filter, ProblemList *list)
{
	int			i;

	for (i = 0; i < filter->agents.n; i++)
		if (!slice_starts(filter->agents.items[i], SLICE_OF("agent:")))
			problem_add(list, "/agent", "WRONG_PREFIX",
						"%s is not the ID of an agent, which begins with \"agent:\".",
						place_quote(filter->agents.items[i]));
}

/* Completes the topics, which may be given with or without their prefix. */
static void
filter_complete_topics(Filter *filter)
{
	int			i;

	for (i = 0; i < filter->topics.n; i++)
	{
		Slice	   *topic = &filter->topics.items[i];

		if (!slice_starts(*topic, SLICE_OF("topic:")))
			*topic = slice_of_cstring(psprintf("topic:%.*s", topic->len, topic->s));
	}
}

/*
 * Collects the agents, the groups of which they are members now, and group:*.
 */
static void
filter_find_inboxes(Filter *filter)
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
filter_of_agent(Slice agent_id, Filter *filter)
{
	memset(filter, 0, sizeof(*filter));
	filter->agents.items = palloc(sizeof(Slice));
	filter->agents.items[filter->agents.n++] = agent_id;
	filter_find_inboxes(filter);
}

void
filter_parse(Jsonb *document, Filter *filter, ProblemList *list)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;
	JsonbValue	key = {0};

	memset(filter, 0, sizeof(*filter));
	it = JsonbIteratorInit(&document->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = value;
		else if (token == WJB_VALUE)
			filter_read_key(document_text(&key), &value, filter, list);
	}
	filter_check_types(filter, list);
	filter_check_agents(filter, list);
	filter_complete_topics(filter);
	filter_find_inboxes(filter);
}

void
filter_read(Jsonb *document, Filter *filter)
{
	ProblemList *list = problem_list();

	if (!JB_ROOT_IS_OBJECT(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("filter", "WRONG_TYPE"),
				 errmsg("argument \"filter\" must be a JSON object"),
				 errhint("Write {} for all events, or for example {\"type\": \"chat.message\"}.")));
	filter_parse(document, filter, list);
	if (list->n > 0)
		problem_raise(list, ERRCODE_INVALID_PARAMETER_VALUE, "filter");
}

/* --------------------------------------------------------------- fitting */

static bool
filter_list_allows(const SliceList *wanted, Slice text)
{
	return wanted->n == 0 || slices_have(*wanted, text);
}

static bool
filter_types_allow(const SliceList *wanted, Slice type)
{
	Slice		prefix;
	int			i;

	if (filter_list_allows(wanted, type))
		return true;
	for (i = 0; i < wanted->n; i++)
		if (filter_type_is_family(wanted->items[i], &prefix) && slice_starts(type, prefix))
			return true;
	return false;
}

bool
filter_wants_type(const Filter *filter, Slice type)
{
	return filter_types_allow(&filter->types, type);
}

static bool
filter_recipients_include(const SliceList *recipients, const SliceList *wanted)
{
	int			i;

	for (i = 0; i < recipients->n; i++)
		if (filter_list_allows(wanted, recipients->items[i]))
			return true;
	return false;
}

/*
 * Is the event the request of a task that one of the agents has or has had by
 * now, whoever it was addressed to?
 */
static bool
filter_request_was_given_to(const SliceList *agents, Slice type, Slice task_id)
{
	Task	   *task;
	int			i;

	if (message_type_parse(type) != MSG_TASK_REQUEST)
		return false;
	task = task_look(task_id, ROWS_LATEST);
	for (i = 0; task != NULL && i < agents->n; i++)
		if (task_was_with(task, agents->items[i]))
			return true;
	return false;
}

static bool
filter_recipients_allow(const Filter *filter, const SliceList *recipients, Slice type, Slice task_id)
{
	return (filter->inboxes.n == 0 || filter_recipients_include(recipients, &filter->inboxes) ||
			filter_request_was_given_to(&filter->agents, type, task_id)) &&
		(filter->topics.n == 0 || filter_recipients_include(recipients, &filter->topics));
}

static bool
filter_recipients_fit(const Filter *filter, const RowScan *event)
{
	SliceList	recipients;
	bool		isnull;

	if (filter->inboxes.n == 0 && filter->topics.n == 0)
		return true;
	recipients = column_texts_of(rows_datum(event, Anum_event_to_agents, &isnull));
	return filter_recipients_allow(filter, &recipients, rows_text(event, Anum_event_type),
								   rows_text(event, Anum_event_task_id));
}

bool
filter_fits_columns(const Filter *filter, const RowScan *event)
{
	return filter_types_allow(&filter->types, rows_text(event, Anum_event_type)) &&
		filter_list_allows(&filter->threads, rows_text(event, Anum_event_thread_id)) &&
		filter_list_allows(&filter->runs, rows_text(event, Anum_event_run_id)) &&
		filter_list_allows(&filter->tasks, rows_text(event, Anum_event_task_id)) &&
		filter_list_allows(&filter->domains, rows_text(event, Anum_event_domain)) &&
		filter_list_allows(&filter->payload_types, rows_text(event, Anum_event_payload_type)) &&
		filter_recipients_fit(filter, event);
}

bool
filter_fits_path(const Filter *filter, const RowScan *event)
{
	return filter->path.jsonpath == NULL ||
		path_fits(&filter->path, rows_jsonb(event, Anum_event_envelope));
}

bool
filter_fits_envelope(const Filter *filter, const Envelope *envelope)
{
	return filter_types_allow(&filter->types, envelope->type_name) &&
		filter_list_allows(&filter->threads, envelope->thread_id) &&
		filter_list_allows(&filter->runs, envelope->run_id) &&
		filter_list_allows(&filter->tasks, envelope->task_id) &&
		filter_list_allows(&filter->domains, envelope->domain) &&
		filter_list_allows(&filter->payload_types, envelope->payload_type) &&
		filter_recipients_allow(filter, &envelope->to_agents, envelope->type_name, envelope->task_id) &&
		(filter->path.jsonpath == NULL || path_fits(&filter->path, envelope->doc));
}
