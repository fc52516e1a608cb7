/*-------------------------------------------------------------------------
 *
 * mcp_part.h
 *	  For the files of mcp alone.
 *
 * Notes: "form" says of what the envelope was made, if its type does not tell, and
 * "progress_token" is a token that is not a text.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MCP_PART_H
#define CLUTCH_MCP_PART_H

#include "adapters/mcp.h"

#define MCP_SKILL_PREFIX	"skill:"
#define MCP_SERVER_PREFIX	"mcp:"
#define MCP_SKILL_TOOL		"skill."	/* the tools that stand for skills */
#define MCP_SEND_TOOL		"clutch.send"	/* for an envelope that has no other form */
#define MCP_CANCEL_TOOL		"clutch.task_cancel"
#define MCP_METHOD_TYPE		"mcp."	/* followed by a method: a payload_type */

extern const AdapterRow mcp_meta_rows[];
extern const AdapterRow mcp_progress_rows[];
extern const AdapterRow mcp_question_rows[];

/* a new object {"jsonrpc": "2.0"} */
extern Json *mcp_document(void);

/* Was the envelope made of this form? */
extern bool mcp_is_form(const Adapter *self, const Json *envelope, const char *form);

/*
 * A new envelope of that type for a message of the server.  Its sender is the agent of the
 * server that the context names; left open if it names none.
 */
extern Json *mcp_envelope_of_server(const Adapter *self, MessageType type, const Json *context);

/* the name of the server that the context names; absent if it names none */
extern Slice mcp_server(const Json *context);

/* Notes the ID of a task of the other side, unless the context says which task it is. */
extern void mcp_note_task(const Adapter *self, Json *envelope, const Json *context, Json *task_id);

/* the ID that mcp_note_task was given; NULL: none */
extern Json *mcp_task_of(const Adapter *self, const Json *envelope);

/* A chat.system with the payload_type "mcp.<word>", whose payload is the object at that path. */
extern Json *mcp_read_other(const Adapter *self, const Json *raw, Slice word, const char *path, const Json *context);

/* a copy of an object without its member "_meta"; it shares all values */
extern Json *mcp_without_meta(const Json *object);

/* Does it consist of characters that the name of a tool may have? */
extern bool mcp_is_tool_name(Slice name);

/* ------------------------------------------------------------- mcp_write.c */

extern Json *mcp_outbound(const Adapter *self, const Json *envelope);

/*
 * The blocks of a content, followed by links to the attachments of the envelope, which
 * have no other place in a result.  The array is a new one, which shares its blocks.
 */
extern Json *mcp_content_with_links(const Json *content, const Json *envelope);

/* ------------------------------------------------------------ mcp_result.c */

/* the envelopes of a response */
extern List *mcp_read_response(const Adapter *self, const Json *raw, const Json *context);

/* the envelope that the status of a task at that path makes */
extern Json *mcp_read_status(const Adapter *self, const Json *raw, const char *path, const Json *context);

/* the response that an envelope becomes */
extern Json *mcp_write_result(const Adapter *self, const Json *envelope);
extern Json *mcp_write_error(const Adapter *self, const Json *envelope);
extern Json *mcp_write_inputs(const Adapter *self, const Json *envelope);
extern Json *mcp_write_answer(const Adapter *self, const Json *envelope);
extern Json *mcp_write_status(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_MCP_PART_H */
