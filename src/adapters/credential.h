/*-------------------------------------------------------------------------
 *
 * credential.h
 *	  Credentials in a document that comes from outside.
 *
 * An envelope stays in the log for ever, and everybody who may see its run can read
 * it, so no credential may get into one.  What looks like one is removed
 * before anything is translated:
 *
 *	- a text or a number, or an array of them, whose name is that of a credential, in
 *	  whatever spelling: authorization, cookie, password, secret, api_key, accessToken,
 *	  X-Hub-Signature, ...  Objects are not removed, but searched: a schema may well have
 *	  a property "password".  Names such as max_tokens or progressToken are left alone.
 *	- a text that is as a whole of the form of a well-known credential: "Bearer ...",
 *	  a JWT, a private key, the keys of some providers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREDENTIAL_H
#define CLUTCH_CREDENTIAL_H

#include "base/json.h"

/*
 * Removes them from the document and returns their paths in it, an array of texts;
 * NULL: there are none.
 */
extern Json *credential_remove(Json *document);

#endif							/* CLUTCH_CREDENTIAL_H */
