/*-------------------------------------------------------------------------
 *
 * mcp.h
 *	  The Model Context Protocol (MCP): JSON-RPC 2.0 between hosts and servers
 *	  that offer tools.
 *
 * A document is one message: a request, a notification or a response, of any
 * revision of the protocol up to 2026-07-28.  The ID of a request is unique
 * only in its session, so the context has a member "session", a text that
 * differs between sessions.  Its member "server" is the name of the MCP server
 * at the other end; the sender of that server's messages is
 * agent:mcp.<server>. docs/adapters.md has the mapping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MCP_H
#define CLUTCH_MCP_H

#include "adapters/adapter.h"

extern const Adapter mcp_adapter;

#endif							/* CLUTCH_MCP_H */
