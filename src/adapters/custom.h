/*-------------------------------------------------------------------------
 *
 * custom.h
 *	  Adapters that users have written, as three functions in any language.
 *
 *		can_handle(raw jsonb) RETURNS boolean
 *		inbound(raw jsonb, context jsonb) RETURNS SETOF jsonb
 *		outbound(envelope jsonb) RETURNS jsonb
 *
 * They are plain translations, as those of adapter.h, and run as the current role.  A role
 * is not made to run a function whose owner has fewer rights than itself: an operator,
 * who may add adapters, could otherwise act as a superuser.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CUSTOM_H
#define CLUTCH_CUSTOM_H

#include "adapters/adapter.h"

/* Makes the adapter call its functions, whose names are set. */
extern void custom_prepare(Adapter *adapter);

#endif							/* CLUTCH_CUSTOM_H */
