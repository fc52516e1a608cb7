/*-------------------------------------------------------------------------
 *
 * signing.h
 *	  Signatures of Standard Webhooks, version 1: HMAC-SHA256 over
 *	  "<id>.<seconds since 1970>.<body>".
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SIGNING_H
#define CLUTCH_SIGNING_H

#include "base/text.h"

/*
 * The header webhook-signature, palloc'd: "v1,<base64>" for each of the secrets, which are
 * separated by spaces, so that one can be replaced while receivers still know the other.
 * A secret is "whsec_" and the base64 of 24 to 64 bytes; raises 22023, for the argument
 * "secret", if one is not.
 */
extern char *signing_webhook(Slice secrets, Slice id, int64 seconds, Slice body);

#endif							/* CLUTCH_SIGNING_H */
