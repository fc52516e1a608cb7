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
 * Returns the value of the header webhook-signature, palloc'd: "v1,<base64>"
 * for each of the secrets.  Several secrets are separated by spaces, so that a
 * secret can be replaced while some receivers still use the old one.  A secret
 * is "whsec_" followed by the base64 of 24 to 64 bytes.  Raises 22023 for the
 * argument "secret" if one is anything else.
 */
extern char *signing_webhook(Slice secrets, Slice id, int64 seconds, Slice body);

/* Can signing_webhook sign with these secrets? */
extern bool signing_is_possible(Slice secrets);

#endif							/* CLUTCH_SIGNING_H */
