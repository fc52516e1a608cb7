/*-------------------------------------------------------------------------
 *
 * tooling.h
 *	  Calls of tools, as frameworks write them.
 *
 * A framework names a tool by a word, which is the "tool" of the payload behind the
 * prefix "tool:" ("mcp:..." stays as it is), and passes arguments as an object or as
 * the text of one.  The text is noted in meta.<adapter>.args, and is written again as
 * long as it is that of the arguments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TOOLING_H
#define CLUTCH_TOOLING_H

#include "adapters/adapter.h"

/* the code of the errors of tools that have none */
#define TOOLING_ERROR	"TOOL_EXECUTION_ERROR"

/* Raises adapter_fault at the path if the name is no identifier. */
extern void tooling_put_name(const Adapter *self, Json *envelope, const char *path, Slice name);
extern Slice tooling_name(const Json *envelope);

/* What is neither an object nor the text of one becomes {"input": value}.  NULL: {}. */
extern void tooling_put_args(const Adapter *self, Json *envelope, Json *args);
extern Json *tooling_args(const Adapter *self, const Json *envelope);

/* the call that an answer needs if nobody has sent it; the path is that of the name */
extern Json *tooling_stub(const Adapter *self, Json *native, const char *path, Slice name);

/*
 * Makes a text of what a framework says of an error, which is never empty: a text stays as it
 * is, and something else becomes JSON.  NULL: a text that says nothing.
 */
extern Slice tooling_message(const Json *said);

/* Says in the payload of an error what it is; the text is noted if it is not the message. */
extern void tooling_put_error(const Adapter *self, Json *envelope, const char *code, Json *said);

/* what the framework has said */
extern Json *tooling_error(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_TOOLING_H */
