/*-------------------------------------------------------------------------
 *
 * endpoint_part.h
 *	  Private declarations of endpoint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENDPOINT_PART_H
#define CLUTCH_ENDPOINT_PART_H

#include "base/rows.h"
#include "outbox/endpoint.h"

/* columns of clutch.endpoint */
enum
{
	Anum_endpoint_name = 1,
	Anum_endpoint_url,
	Anum_endpoint_adapter,
	Anum_endpoint_agents,
	Anum_endpoint_serves,
	Anum_endpoint_filter,
	Anum_endpoint_signing_secret,
	Anum_endpoint_auth_secret,
	Anum_endpoint_headers,
	Anum_endpoint_max_attempts,
	Anum_endpoint_first_pause_s,
	Anum_endpoint_longest_pause_s,
	Anum_endpoint_patience_s,
	Anum_endpoint_paused,
	Anum_endpoint_artifacts_from,
	Anum_endpoint_former_names,
	Natts_endpoint = Anum_endpoint_former_names
};

ROWS_CHECK_COLUMNS(Natts_endpoint, ENDPOINT);

#endif							/* CLUTCH_ENDPOINT_PART_H */
