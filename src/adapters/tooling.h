/*-------------------------------------------------------------------------
 *
 * tooling.h
 *	  Tool calls as frameworks write them.
 *
 * A framework names a tool by a word.  With the prefix "tool:", that word is
 * the member "tool" of the payload; a name that begins with "mcp:" gets no
 * prefix.  Arguments are an object or the JSON text of one.  The text is noted
 * in meta.<adapter>.args, and is written again unless the arguments have been
 * changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TOOLING_H
#define CLUTCH_TOOLING_H

#include "adapters/adapter.h"

/* the code for an error of a tool that has no code of its own */
#define TOOLING_ERROR	"TOOL_EXECUTION_ERROR"

/*
 * Puts the name of a tool into the payload; and the reverse.  Raises
 * adapter_fault at the path if the name cannot be an identifier.
 */
extern void tooling_put_name(const Adapter *self, Json *envelope, const char *path, Slice name);
extern Slice tooling_name(const Json *envelope);

/*
 * Return the name of a tool in the document.  An empty one is "unknown", because
 * frameworks report what a model has said, which may be no name.  So is a
 * missing one, unless the name is required.
 */
extern Slice tooling_find_name(const Adapter *self, const Json *raw, const char *path);
extern Slice tooling_require_name(const Adapter *self, const Json *raw, const char *path);

/*
 * Return the ID of a call; and the ID of the call that an answer names.  Some
 * models give no IDs to their calls, and frameworks then write empty ones.  Such
 * a call has none, and the answer names one that is made of "answer", which
 * tells the answers apart.
 */
extern Json *tooling_find_id(const Adapter *self, const Json *raw, const char *path);
extern Json *tooling_find_call(const Adapter *self, const Json *raw, const char *path, Slice answer);

/*
 * Puts arguments into the payload; and the reverse.  A value that is neither
 * an object nor the text of one becomes {"input": value}; NULL becomes an
 * empty object.
 */
extern void tooling_put_args(const Adapter *self, Json *envelope, Json *args);
extern Json *tooling_args(const Adapter *self, const Json *envelope);

/*
 * Returns a stub of the tool.call with that native ID.  The path is that of
 * the name, for a fault.
 */
extern Json *tooling_stub(const Adapter *self, Json *native, const char *path, Slice name);

/*
 * Makes the payload of an error.  What the framework gave is noted as "said"
 * unless it equals the message.
 */
extern void tooling_put_error(const Adapter *self, Json *envelope, const char *code, Json *said);

/*
 * Returns the error for the framework: what it gave, unless the message has
 * been changed.
 */
extern Json *tooling_error(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_TOOLING_H */
