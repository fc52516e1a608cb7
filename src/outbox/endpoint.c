/*-------------------------------------------------------------------------
 *
 * endpoint.c
 *	  Endpoints that calls are sent to.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/rows.h"
#include "base/stale.h"
#include "outbox/endpoint_part.h"
#include "protocol/problem.h"
#include "registry/roster.h"
#include "utils/memutils.h"

/* columns of clutch.endpoint_secret */
enum
{
	Anum_endpoint_secret_name = 1,
	Anum_endpoint_secret_value,
	Natts_endpoint_secret = Anum_endpoint_secret_value
};

ROWS_CHECK_COLUMNS(Natts_endpoint_secret, ENDPOINT_SECRET);

/* --------------------------------------------------------------------- rows */

static Endpoint *
endpoint_row_read(const RowScan *scan)
{
	Endpoint   *endpoint = palloc0(sizeof(Endpoint));

	endpoint->name = rows_text_copy(scan, Anum_endpoint_name);
	endpoint->url = rows_text_copy(scan, Anum_endpoint_url);
	endpoint->adapter = rows_text_copy(scan, Anum_endpoint_adapter);
	endpoint->agents = rows_texts_copy(scan, Anum_endpoint_agents);
	endpoint->serves = rows_text_copy(scan, Anum_endpoint_serves);
	endpoint->signing = rows_text_copy(scan, Anum_endpoint_signing_secret);
	endpoint->authorization = rows_text_copy(scan, Anum_endpoint_auth_secret);
	endpoint->headers = rows_jsonb(scan, Anum_endpoint_headers);
	endpoint->max_attempts = rows_int4(scan, Anum_endpoint_max_attempts);
	endpoint->first_pause = rows_int4(scan, Anum_endpoint_first_pause_s);
	endpoint->longest_pause = rows_int4(scan, Anum_endpoint_longest_pause_s);
	endpoint->patience = rows_int4(scan, Anum_endpoint_patience_s);
	endpoint->paused = rows_bool(scan, Anum_endpoint_paused);
	endpoint->artifacts_from = rows_int4(scan, Anum_endpoint_artifacts_from);
	endpoint->former_names = rows_texts_copy(scan, Anum_endpoint_former_names);
	endpoint->has_filter = !rows_is_null(scan, Anum_endpoint_filter);
	if (endpoint->has_filter)
		filter_read(rows_jsonb(scan, Anum_endpoint_filter), &endpoint->filter);
	return endpoint;
}

/* Returns all endpoints in the order of their names, palloc'd. */
static List *
endpoint_rows_read(void)
{
	List	   *list = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_ENDPOINT, INDEX_ENDPOINT, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
		list = lappend(list, endpoint_row_read(&scan));
	rows_end(&scan);
	return list;
}

/* ------------------------------------------------------------------- memory */

typedef struct EndpointMemory
{
	MemoryContext context;		/* NULL if nothing has been read */
	List	   *all;			/* Endpoint *, by name */
	List	   *webhooks;		/* those with a filter */
	List	   *serving;		/* those that serve an agent, by the agent */
	bool		has_paused;
	bool		names_agents;	/* a filter names an agent, so it depends on
								 * the groups that the agent is in */
} EndpointMemory;

static EndpointMemory memory;
static EndpointMemory memory_before;
static uint64 read_at = 0;		/* number of changes when the table was read; 0
								 * if it was never read */
static uint64 read_roster_at = 0;

static int
endpoint_compare_served(const ListCell *a, const ListCell *b)
{
	return slice_compare(((const Endpoint *) lfirst(a))->serves, ((const Endpoint *) lfirst(b))->serves);
}

static EndpointMemory
endpoint_memory_make(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch endpoints", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	EndpointMemory made = {context, endpoint_rows_read()};
	ListCell   *cell;

	foreach(cell, made.all)
	{
		Endpoint   *endpoint = lfirst(cell);

		made.has_paused |= endpoint->paused;
		if (slice_present(endpoint->serves))
			made.serving = lappend(made.serving, endpoint);
		if (!endpoint->has_filter)
			continue;
		made.webhooks = lappend(made.webhooks, endpoint);
		made.names_agents |= endpoint->filter.agents.n > 0;
	}
	list_sort(made.serving, endpoint_compare_served);
	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, TopMemoryContext);
	return made;
}

/*
 * Reads the table.  The previous version stays in memory until the next time,
 * because a caller may still be using it.
 */
static void
endpoint_read_again(uint64 changes)
{
	uint64		roster_at = roster_changes();
	EndpointMemory made = endpoint_memory_make();

	if (memory_before.context != NULL)
		MemoryContextDelete(memory_before.context);
	memory_before = memory;
	memory = made;
	read_at = changes;
	read_roster_at = roster_at;
}

static const EndpointMemory *
endpoint_remembered(void)
{
	uint64		changes = stale_count(STALE_ENDPOINTS);

	if (read_at != changes || (memory.names_agents && read_roster_at != roster_changes()))
		endpoint_read_again(changes);
	return &memory;
}

/* ------------------------------------------------------------------- asking */

bool
endpoint_is_any(void)
{
	return endpoint_remembered()->all != NIL;
}

bool
endpoint_is_any_paused(void)
{
	return endpoint_remembered()->has_paused;
}

static Slice
endpoint_name_of(const Endpoint *endpoint)
{
	return endpoint->name;
}

static Slice
endpoint_served_by(const Endpoint *endpoint)
{
	return endpoint->serves;
}

/* Searches a list that is sorted by this key.  Returns NULL if no endpoint has the key. */
static const Endpoint *
endpoint_search(const List *sorted, Slice key, Slice (*key_of) (const Endpoint *endpoint))
{
	int			low = 0;
	int			high = list_length(sorted);

	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		const Endpoint *endpoint = list_nth(sorted, middle);
		int			order = slice_compare(key, key_of(endpoint));

		if (order == 0)
			return endpoint;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const Endpoint *
endpoint_find(Slice name)
{
	return endpoint_search(endpoint_remembered()->all, name, endpoint_name_of);
}

const Endpoint *
endpoint_once_named(Slice name)
{
	ListCell   *cell;

	foreach(cell, endpoint_remembered()->all)
	{
		const Endpoint *endpoint = lfirst(cell);

		if (slices_have(endpoint->former_names, name))
			return endpoint;
	}
	return NULL;
}

const Endpoint *
endpoint_read(Slice name)
{
	const Endpoint *endpoint = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_ENDPOINT, INDEX_ENDPOINT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	rows_start(&scan);
	if (rows_next(&scan))
		endpoint = endpoint_row_read(&scan);
	rows_end(&scan);
	return endpoint;
}

const Endpoint *
endpoint_serving(Slice agent_id)
{
	return endpoint_search(endpoint_remembered()->serving, agent_id, endpoint_served_by);
}

List *
endpoint_list_served(void)
{
	List	   *served = NIL;
	ListCell   *cell;

	foreach(cell, endpoint_remembered()->serving)
		served = slice_list_add(served, ((const Endpoint *) lfirst(cell))->serves);
	return served;
}

List *
endpoint_webhooks(void)
{
	return endpoint_remembered()->webhooks;
}

bool
endpoint_allows(const Endpoint *endpoint, Slice agent_id)
{
	return slices_have(endpoint->agents, agent_id) || slices_have(endpoint->agents, SLICE_OF("*"));
}

bool
endpoint_takes_cancel(const Endpoint *endpoint)
{
	return slice_is(endpoint->adapter, "a2a") || slice_is(endpoint->adapter, "mcp") || slice_is(endpoint->adapter, "peer");
}

bool
endpoint_tells_run(const Endpoint *endpoint)
{
	return slice_is(endpoint->adapter, "langgraph") || slice_is(endpoint->adapter, "crewai");
}

Slice
endpoint_secret(Slice name)
{
	Slice		value = SLICE_NONE;
	RowScan		scan;

	rows_begin(&scan, TABLE_ENDPOINT_SECRET, INDEX_ENDPOINT_SECRET, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	rows_start(&scan);
	if (rows_next(&scan))
		value = rows_text_copy(&scan, Anum_endpoint_secret_value);
	rows_end(&scan);
	if (!slice_present(value))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("secret \"%.*s\" does not exist", name.len, name.s),
				 errhint("Ask an operator to run SELECT clutch.set_endpoint_secret(name, value).")));
	return value;
}

/* ------------------------------------------------------------------- changes */

/*
 * Raises an error if an endpoint has a name that another one had before.  A
 * transaction that was open at that time may have written calls to the other
 * one, and they would be sent to this one.  Called after the rows were written,
 * because a row may have waited for the transaction that renames the other.
 */
static void
endpoint_require_free_names(void)
{
	ListCell   *cell;

	foreach(cell, endpoint_remembered()->all)
	{
		const Endpoint *endpoint = lfirst(cell);
		const Endpoint *other = endpoint_once_named(endpoint->name);

		if (other != NULL && other != endpoint)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errproblem("/name", "FORMER_NAME"),
					 errmsg("\"%.*s\" is a former name of endpoint \"%.*s\"", endpoint->name.len, endpoint->name.s,
							other->name.len, other->name.s),
					 errhint("Transactions that are still open may have written calls to it under that name. When those from before it was renamed have ended, run UPDATE clutch.endpoint SET former_names = '{}' WHERE name = '%.*s'.",
							 other->name.len, other->name.s)));
	}
}

void
endpoint_announce(void)
{
	stale_announce(STALE_ENDPOINTS);
	/* make the rows that this statement has written visible */
	CommandCounterIncrement();
	endpoint_require_free_names();
}
