/*-------------------------------------------------------------------------
 *
 * langgraph.h
 *	  LangGraph: events, chunks of streams, messages, and requests for runs.
 *
 * A document is what one step of a stream yields, in any of the forms that the libraries and
 * the server have for it, a message of LangChain, or the body of a request that starts or resumes a
 * run on a LangGraph Server.  docs/adapters.md has the forms and the mapping.
 *
 * The context may have two members more: "stream", true if pieces of messages are to be
 * kept, which are left out otherwise, and "seq", the place of the document in its
 * stream, which tells pieces that are equal apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LANGGRAPH_H
#define CLUTCH_LANGGRAPH_H

#include "adapters/adapter.h"

extern const Adapter langgraph_adapter;

#endif							/* CLUTCH_LANGGRAPH_H */
