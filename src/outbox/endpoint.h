/*-------------------------------------------------------------------------
 *
 * endpoint.h
 *	  Endpoints that calls are sent to: rows of clutch.endpoint.
 *
 * Only operators write endpoints, so no agent can choose the URL of a call.  A
 * backend caches the endpoints until the table changes (base/stale) or, if a
 * filter names an agent, until the registry changes.  If there are no
 * endpoints, each of these functions costs only a comparison.
 *
 * Endpoints that are not palloc'd for the caller stay valid until this backend
 * has read the table two more times.  Times are in seconds.
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
	Slice		adapter;		/* the adapter that translates the bodies */
	SliceList	agents;			/* the agents that may use it; "*" means all
								 * agents */
	Slice		serves;			/* the agent at the other end, or absent */
	bool		has_filter;		/* it is a webhook for the events that match
								 * "filter" */
	Filter		filter;
	Slice		signing;		/* this and the next are names of secrets
								 * (endpoint_secret), or absent */
	Slice		authorization;
	Jsonb	   *headers;		/* NULL if none */
	int			max_attempts;
	int			first_pause;	/* pause before the second attempt; doubled
								 * before each further one, ... */
	int			longest_pause;	/* ... up to this */
	int			patience;		/* how long to wait for the answer */
	bool		paused;
	int			artifacts_from;	/* base64 of at least so many bytes in an
								 * answer becomes an artifact; 0 if none does */
	SliceList	former_names;	/* before it was renamed */
} Endpoint;

/* Is there an endpoint at all? */
extern bool endpoint_is_any(void);
extern bool endpoint_is_any_paused(void);

/* Returns the endpoint of this name, or NULL if there is none. */
extern const Endpoint *endpoint_find(Slice name);

/*
 * The same, but read from the table and palloc'd, for callers that run
 * user-defined functions or send events while they use it.
 */
extern const Endpoint *endpoint_read(Slice name);

/* Returns an endpoint that had this name before it was renamed, or NULL. */
extern const Endpoint *endpoint_once_named(Slice name);

/* Returns the endpoint that serves an agent, or NULL if none does. */
extern const Endpoint *endpoint_serving(Slice agent_id);

/* Returns the agents that are served, as a List of Slice *, palloc'd. */
extern List *endpoint_list_served(void);

/* Returns the endpoints that have a filter, as a List of const Endpoint *. */
extern List *endpoint_webhooks(void);

/* Does the column "agents" contain the agent or "*"? */
extern bool endpoint_allows(const Endpoint *endpoint, Slice agent_id);

/*
 * Can the other side be told that a task is no longer wanted?  True for the
 * adapters whose protocol has a message for this, and a URL that takes it
 * besides tasks.
 */
extern bool endpoint_takes_cancel(const Endpoint *endpoint);

/*
 * Does the other side tell what happens in the run that does a task?  Then the
 * results and errors of parts of this run are not those of the task.
 */
extern bool endpoint_tells_run(const Endpoint *endpoint);

/*
 * Returns the value of a secret, palloc'd.  Raises 42704 if there is no secret
 * of this name.  The caller must not let the value get into anything but what
 * is handed to a gateway.
 */
extern Slice endpoint_secret(Slice name);

/*
 * Raises 22023 with all faults of a row of clutch.endpoint.  The columns are
 * in the order of the table.
 */
extern void endpoint_check(const Datum *values, const bool *nulls);

/*
 * Tells all backends that SQL has changed the table, so that they read it
 * again.
 */
extern void endpoint_announce(void);

#endif							/* CLUTCH_ENDPOINT_H */
