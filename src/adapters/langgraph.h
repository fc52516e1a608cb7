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
 * Would the document be taken for one of LangGraph, although it can only be the
 * values of a graph if a server answers with it?  The values may have members
 * of any name.
 */
extern bool langgraph_are_values(const Json *raw);

#endif							/* CLUTCH_LANGGRAPH_H */
