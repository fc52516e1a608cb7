/*-------------------------------------------------------------------------
 *
 * langgraph.h
 *	  LangGraph: events, chunks of streams, messages, and requests for runs.
 *
 * A document is an item of a stream, in any of the forms that the libraries and the server
 * use, a message of LangChain, or the body of a request that starts or resumes a run on a
 * LangGraph Server.  docs/adapters.md has the forms and the mapping.
 *
 * Two members of the context are for streams: "stream" says whether pieces of messages are
 * translated, which are left out by default, and "seq" is the number of the document in its
 * stream, which distinguishes equal pieces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LANGGRAPH_H
#define CLUTCH_LANGGRAPH_H

#include "adapters/adapter.h"

extern const Adapter langgraph_adapter;

#endif							/* CLUTCH_LANGGRAPH_H */
