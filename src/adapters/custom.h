/*-------------------------------------------------------------------------
 *
 * custom.h
 *	  User-defined adapters, which consist of three functions in any language.
 *
 *		can_handle(raw jsonb) RETURNS boolean
 *		inbound(raw jsonb, context jsonb) RETURNS SETOF jsonb
 *		outbound(envelope jsonb) RETURNS jsonb
 *
 * They are plain translations like those of adapter.h, and run as the current
 * role.  A function whose owner has fewer rights than the current role is
 * refused (42501), because otherwise an operator, who may add adapters, could
 * act as a superuser who uses one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CUSTOM_H
#define CLUTCH_CUSTOM_H

#include "adapters/adapter.h"

/*
 * Sets the callbacks of an adapter whose function names are set, so that they
 * call these functions.
 */
extern void custom_prepare(Adapter *adapter);

#endif							/* CLUTCH_CUSTOM_H */
