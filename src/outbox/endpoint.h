/*-------------------------------------------------------------------------
 *
 * endpoint.h
 *	  The endpoints that calls are sent to: rows of clutch.endpoint.
 *
 * Only operators write endpoints, so no agent can choose the URL of a call.  A backend
 * remembers the endpoints until the table changes (base/stale), and if a filter names an
 * agent, until the registry changes.  If there is no endpoint, each of these functions
 * costs a comparison.
 *
 * Endpoints that are returned without being palloc'd stay in memory until this backend has
 * read the table twice more.  Times are in seconds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENDPOINT_H
#define CLUTCH_ENDPOINT_H

#include "feed/filter.h"

typedef struct Endpoint
{
	Slice		name;
	Slice		url;
	Slice		adapter;		/* the dialect of the bodies */
	SliceList	agents;			/* the agents that may use it; "*" stands for all agents */
	Slice		serves;			/* the agent at the other end, or absent */
	bool		has_filter;		/* it is a webhook for the events that fit "filter" */
	Filter		filter;
	Slice		signing;		/* this and the next: the name of a secret (endpoint_secret), or absent */
	Slice		authorization;
	Jsonb	   *headers;		/* NULL if none */
	int			max_attempts;
	int			first_pause;	/* before the second attempt; doubled before each further one, ... */
	int			longest_pause;	/* ... up to this */
	int			patience;		/* the longest time until the answer */
	bool		paused;
	int			artifacts_from;	/* bytes of base64 in an answer that become an
								 * artifact, or 0 if none do */
} Endpoint;

/* Is there an endpoint at all? */
extern bool endpoint_is_any(void);
extern bool endpoint_is_any_paused(void);

/* Returns NULL if there is none of this name. */
extern const Endpoint *endpoint_find(Slice name);

/*
 * The same, but read from the table and palloc'd, for callers that run functions of users
 * or send events while they use it.
 */
extern const Endpoint *endpoint_read(Slice name);

/* Returns the endpoint that serves an agent, or NULL if none does. */
extern const Endpoint *endpoint_serving(Slice agent_id);

/* Returns the agents that are served, as a List of Slice *, palloc'd. */
extern List *endpoint_list_served(void);

/* Returns the endpoints that have a filter, as a List of const Endpoint *. */
extern List *endpoint_webhooks(void);

/* Is the agent, or "*", in the column agents? */
extern bool endpoint_allows(const Endpoint *endpoint, Slice agent_id);

/*
 * The value of a secret, palloc'd.  Raises 42704 if there is none of this name.  The value
 * must get into nothing but what is handed to a gateway.
 */
extern Slice endpoint_secret(Slice name);

/* Raises 22023 with all faults of a row of clutch.endpoint, whose columns are in the order of the table. */
extern void endpoint_check(const Datum *values, const bool *nulls);

/* Makes all backends read the table again, which SQL has changed. */
extern void endpoint_announce(void);

#endif							/* CLUTCH_ENDPOINT_H */
