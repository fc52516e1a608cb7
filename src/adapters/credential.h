/*-------------------------------------------------------------------------
 *
 * credential.h
 *	  Credentials in a document that comes from outside.
 *
 * An envelope stays in the log, and everybody who may see its run can read it, so no
 * credential may get into it.  Before a document is translated, this removes
 *
 *	- every text or number, or array of them, whose name is that of a credential in any
 *	  spelling: authorization, cookie, password, secret, api_key, accessToken,
 *	  X-Hub-Signature, ...  Objects are searched but not removed, because a schema may
 *	  have a property "password".  Names such as max_tokens or progressToken are not those
 *	  of credentials.
 *	- every text that as a whole looks like a credential of a well-known kind, "Bearer
 *	  ...", a JWT, or a key of certain providers, every text that begins with a URL that has
 *	  a password (https://user:password@host), and every text that contains a private key in
 *	  PEM.  A URL that has only a user, or stands further behind in a text, is left alone:
 *	  whoever writes about a database in a chat must not lose the message.
 *
 * A text that is JSON as a whole, blanks and a fence of ``` around it aside, is searched by the
 * same rules: each of several members with the same name, and texts of JSON within it, however
 * deep.  Credentials are cut out of the text, and all its other bytes stay as they are.  JSON is
 * what RFC 8259 defines, or Python writes: NaN and Infinity, and control characters in texts, are
 * no reason not to search.  Whatever the adapters parse is JSON by this definition.
 *
 * JSON with other text around it, or several JSON in one text, may be code in a chat, which must
 * not lose its examples.  There, as in "api_key": "sk-..." with quotes of either kind, only a
 * value that both has the name of a credential and looks like one of a well-known kind is cut
 * out, and only if it has a digit, because placeholders have none.  The quotes stay.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CREDENTIAL_H
#define CLUTCH_CREDENTIAL_H

#include "base/json.h"

/*
 * Removes all credentials from the document and returns the paths that they had in it, as
 * an array of texts; NULL: there were none.  The path of a credential in a text of JSON is that of
 * the text, followed by that within it.  A document that is a text is searched as such, but stays
 * if it is a credential as a whole.
 */
extern Json *credential_remove(Json *document);

#endif							/* CLUTCH_CREDENTIAL_H */
