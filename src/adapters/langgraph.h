/*-------------------------------------------------------------------------
 *
 * langgraph.h
 *	  LangGraph: events, chunks of streams, messages, and requests for runs.
 *
 * A document is a stream item in any of the forms that the libraries and the
 * server use, a LangChain message, or the body of a request that starts or
 * resumes a run on a LangGraph Server.  docs/adapters.md has the forms and the
 * mapping.
 *
 * Two members of the context are for streams: "stream" says whether pieces of
 * messages are translated, which are dropped by default; and "seq" is the
 * number of the document in its stream, which tells equal pieces apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LANGGRAPH_H
#define CLUTCH_LANGGRAPH_H

#include "adapters/adapter.h"

extern const Adapter langgraph_adapter;

/*
 * Does the document look like one with which no server of LangGraph answers?
 * If a server has answered with it, it is the values of a graph, which may have
 * members of any name.
 */
extern bool langgraph_are_values(const Json *raw);

/* Is it an object, with nothing around it that says what it is? */
extern bool langgraph_is_bare(const Json *raw);

#endif							/* CLUTCH_LANGGRAPH_H */
