/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  The adapters: the rows of clutch.adapter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog.h"

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

/* Those that are built in.  Each has a row in sql/install/adapter.sql, too. */
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

/* columns of clutch.adapter */
enum
{
	Anum_adapter_name = 1,
	Anum_adapter_place,
	Anum_adapter_can_handle,
	Anum_adapter_inbound,
	Anum_adapter_outbound,
	Anum_adapter_carrier,
	Anum_adapter_builtin,
	Natts_adapter = Anum_adapter_builtin
};

ROWS_CHECK_COLUMNS(Natts_adapter, ADAPTER);

static const char *
catalog_text(const RowScan *scan, int attno)
{
	Slice		text = rows_text(scan, attno);

	return slice_present(text) ? slice_cstring(text) : NULL;
}

/* NULL: the row is that of an adapter which this library does not have */
static Adapter *
catalog_read(const RowScan *scan)
{
	Adapter    *adapter = palloc0(sizeof(Adapter));

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
	for (const Adapter *const *built_in = catalog_built_in; *built_in != NULL; built_in++)
		if (strcmp(adapter->name, (*built_in)->name) == 0)
		{
			*adapter = **built_in;
			return adapter;
		}
	return NULL;
}

Adapter *
catalog_find(Slice name)
{
	RowScan		scan;
	Adapter    *adapter = NULL;

	rows_begin(&scan, TABLE_ADAPTER, INDEX_ADAPTER, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, name);
	rows_start(&scan);
	if (rows_next(&scan))
		adapter = catalog_read(&scan);
	rows_end(&scan);
	return adapter;
}

List *
catalog_list(void)
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
