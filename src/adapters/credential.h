/*-------------------------------------------------------------------------
 *
 * credential.h
 *	  Removing credentials from documents that come from outside.
 *
 * An envelope stays in the log and can be read by everybody who may see its
 * run, so no credential may get into it.  Before a document is translated,
 * this removes
 *
 *	- every text or number, or array of them, whose name is that of a
 *	  credential in any spelling: authorization, cookie, password, secret,
 *	  api_key, accessToken, X-Hub-Signature, ...  Objects are searched but not
 *	  removed, because a schema may have a property "password".  Names such as
 *	  max_tokens or progressToken are not those of credentials.
 *	- every text that as a whole looks like a credential of a well-known kind,
 *	  "Bearer ...", a JWT, or a key of certain providers, every text that
 *	  begins with a URL that has a password (https://user:password@host), and
 *	  every text that contains a private key in PEM.  A URL that has only a
 *	  user, or stands further behind in a text, is left alone: whoever writes
 *	  about a database in a chat must not lose the message.
 *
 * A text that consists of JSON, apart from blanks and a fence of ``` around
 * it, is searched by the same rules.  This includes every one of several
 * members with the same name, and texts of JSON within it at any depth.
 * Credentials are cut out of the text, and all its other bytes stay as they
 * are.  JSON means what RFC 8259 defines or Python writes: a text with NaN,
 * Infinity, or control characters in strings is searched as well.  Whatever
 * the adapters parse is JSON by this definition.
 *
 * JSON with other text around it, or several JSON values in one text, may be
 * code in a chat, which must not lose its examples.  There, a value such as
 * that of "api_key": "sk-...", in quotes of either kind, is cut out only if
 * its name is that of a credential, it looks like a credential of a well-known
 * kind, and it has a digit, because placeholders have none.  The quotes stay.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREDENTIAL_H
#define CLUTCH_CREDENTIAL_H

#include "base/json.h"

/*
 * Removes all credentials from the document and returns the paths that they
 * had in it, as an array of texts, or NULL if there were none.  The path of a
 * credential within a JSON text is the path of the text followed by the path
 * within it.  A document that is itself a text is searched, but is kept if as
 * a whole it is a credential.
 */
extern Json *credential_remove(Json *document);

/*
 * Returns the JSON that a text consists of, without blanks and a fence of ```
 * around it, or an absent slice if it is not JSON.
 */
extern Slice credential_json_of(Slice text);

#endif							/* CLUTCH_CREDENTIAL_H */
