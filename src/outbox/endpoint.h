/*-------------------------------------------------------------------------
 *
 * endpoint.h
 *	  Where the database may call out to: rows of clutch.endpoint.
 *
 * Only operators write them, so whatever an agent says, a call goes to a URL that
 * an operator has chosen.  A backend remembers the endpoints until the table changes
 * (base/stale), and the filters of webhooks also until the registry changes.  Where
 * there is no endpoint, each of these functions costs a comparison.
 *
 * What is returned stays in memory until this backend has read the endpoints twice
 * more.  Times are in seconds.
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
	SliceList	agents;			/* which agents may use it; "*" is every agent */
	Slice		serves;			/* the agent that is at the other end, or absent */
	bool		has_filter;		/* it is a webhook for the events that fit: */
	Filter		filter;
	Slice		signing;		/* names of secrets, or absent: see endpoint_secret */
	Slice		authorization;
	Jsonb	   *headers;		/* NULL: none */
	int			max_attempts;
	int			first_pause;	/* before the second attempt; it doubles with each further one, */
	int			longest_pause;	/* up to this */
	int			patience;		/* how long an answer may take */
	bool		paused;
} Endpoint;

/* Is there an endpoint at all? */
extern bool endpoint_is_any(void);
extern bool endpoint_is_any_paused(void);

/* NULL: there is none of this name */
extern const Endpoint *endpoint_find(Slice name);

/*
 * The same, read from the table and palloc'd: for those who run functions of users, or
 * send events, while they have it.
 */
extern const Endpoint *endpoint_read(Slice name);

/* the endpoint that serves an agent; NULL: none does */
extern const Endpoint *endpoint_serving(Slice agent_id);

/* the agents that are served, as a List of Slice *, palloc'd */
extern List *endpoint_list_served(void);

/* those that have a filter, as a List of const Endpoint * */
extern List *endpoint_webhooks(void);

/* May the agent use it? */
extern bool endpoint_allows(const Endpoint *endpoint, Slice agent_id);

/*
 * A secret, palloc'd.  Raises 42704 if there is none of this name.  Only what is
 * handed to a gateway may depend on it.
 */
extern Slice endpoint_secret(Slice name);

/* The table has been changed by SQL: raises 22023 for an invalid filter. */
extern void endpoint_announce(void);

#endif							/* CLUTCH_ENDPOINT_H */
