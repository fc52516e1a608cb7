/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  The table clutch.adapter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog_part.h"

#include "adapters/a2a.h"
#include "adapters/agent_json.h"
#include "adapters/autogen.h"
#include "adapters/collab.h"
#include "adapters/crewai.h"
#include "adapters/custom.h"
#include "adapters/http.h"
#include "adapters/langgraph.h"
#include "adapters/map.h"
#include "adapters/multiagent.h"
#include "adapters/mcp.h"
#include "adapters/peer.h"
#include "base/rows.h"
#include "base/stale.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/* The built-in adapters.  Each needs a row in sql/install/adapter.sql, too. */
static const Adapter *const catalog_built_in[] = {
	&a2a_adapter,
	&agent_json_adapter,
	&autogen_adapter,
	&collab_adapter,
	&crewai_adapter,
	&http_adapter,
	&langgraph_adapter,
	&map_adapter,
	&multiagent_adapter,
	&mcp_adapter,
	&peer_adapter,
	NULL
};

static const Adapter *
catalog_find_built_in(Slice name)
{
	for (const Adapter *const *built_in = catalog_built_in; *built_in != NULL; built_in++)
		if (slice_is(name, (*built_in)->name))
			return *built_in;
	return NULL;
}

bool
catalog_is_built_in(Slice name)
{
	return catalog_find_built_in(name) != NULL;
}

static const char *
catalog_text(const RowScan *scan, int attno)
{
	Slice		text = rows_text(scan, attno);

	return slice_present(text) ? slice_cstring(text) : NULL;
}

/*
 * Makes the adapter of a row.  Returns NULL if the row is for a built-in
 * adapter that this library does not have.
 */
static Adapter *
catalog_read(const RowScan *scan)
{
	Adapter    *adapter = palloc0(sizeof(Adapter));
	const Adapter *built_in;

	adapter->name = catalog_text(scan, Anum_adapter_name);
	adapter->inbound_function = catalog_text(scan, Anum_adapter_inbound);
	if (adapter->inbound_function != NULL)
	{
		adapter->can_handle_function = catalog_text(scan, Anum_adapter_can_handle);
		adapter->outbound_function = catalog_text(scan, Anum_adapter_outbound);
		adapter->carrier = catalog_text(scan, Anum_adapter_carrier);
		custom_prepare(adapter);
		return adapter;
	}
	built_in = catalog_find_built_in(slice_of_cstring(adapter->name));
	if (built_in == NULL)
		return NULL;
	*adapter = *built_in;
	return adapter;
}

/* Returns all adapters of the table, in the order in which they are asked. */
static List *
catalog_rows(void)
{
	RowScan		scan;
	List	   *adapters = NIL;

	rows_begin(&scan, TABLE_ADAPTER, INDEX_ADAPTER_PLACE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Adapter    *adapter = catalog_read(&scan);

		if (adapter != NULL)
			adapters = lappend(adapters, adapter);
	}
	rows_end(&scan);
	return adapters;
}

/* ------------------------------------------------------------------- memory */

static struct
{
	MemoryContext context;		/* NULL if the table has not been read */
	List	   *adapters;		/* Adapter * */
	uint64		changes;		/* number of changes when the table was read */
}			memory;

static void
catalog_remember(uint64 changes)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch adapters", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	List	   *adapters = catalog_rows();

	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, TopMemoryContext);
	if (memory.context != NULL)
		MemoryContextDelete(memory.context);
	memory.context = context;
	memory.adapters = adapters;
	memory.changes = changes;
}

static const List *
catalog_remembered(void)
{
	uint64		changes;

	/*
	 * without this, a transaction that opens no table might miss changes by
	 * others
	 */
	AcceptInvalidationMessages();
	changes = stale_count(STALE_ADAPTERS);
	if (memory.context == NULL || memory.changes != changes)
		catalog_remember(changes);
	return memory.adapters;
}

void
catalog_announce(void)
{
	stale_announce(STALE_ADAPTERS);
}

/* ------------------------------------------------------------------- asking */

static const char *
catalog_copy_text(const char *text)
{
	return text != NULL ? pstrdup(text) : NULL;
}

/*
 * Returns a copy for the caller, because a function of an adapter may change
 * the table, which makes us read it again.
 */
static Adapter *
catalog_copy(const Adapter *adapter)
{
	Adapter    *copy = palloc(sizeof(Adapter));

	*copy = *adapter;
	if (adapter->inbound_function == NULL)
		return copy;
	copy->name = catalog_copy_text(adapter->name);
	copy->carrier = catalog_copy_text(adapter->carrier);
	copy->can_handle_function = catalog_copy_text(adapter->can_handle_function);
	copy->inbound_function = catalog_copy_text(adapter->inbound_function);
	copy->outbound_function = catalog_copy_text(adapter->outbound_function);
	return copy;
}

Adapter *
catalog_require(Slice name)
{
	StringInfoData names;
	const ListCell *lc;

	initStringInfo(&names);
	foreach(lc, catalog_remembered())
	{
		const Adapter *adapter = lfirst(lc);

		if (slice_is(name, adapter->name))
			return catalog_copy(adapter);
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", adapter->name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errproblem("adapter", "WRONG_VALUE"),
			 errmsg("adapter %s does not exist", place_quote(name)),
			 errhint("The adapters are %s.", names.data)));
}

List *
catalog_list(void)
{
	List	   *adapters = NIL;
	const ListCell *lc;

	foreach(lc, catalog_remembered())
		adapters = lappend(adapters, catalog_copy(lfirst(lc)));
	return adapters;
}
