/*-------------------------------------------------------------------------
 *
 * mcp_part.h
 *	  Private declarations of mcp.
 *
 * Notes: "form" says what the envelope was made from, if its type does not
 * tell; "progress_token" is that of a call; "at", "holds" and "notice" say how
 * a status was written; "related" is true if "_meta" names the task.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MCP_PART_H
#define CLUTCH_MCP_PART_H

#include "adapters/mcp.h"

#define MCP_SKILL_PREFIX	"skill:"
#define MCP_SERVER_PREFIX	"mcp:"
#define MCP_SKILL_TOOL		"skill."	/* prefix of tools that stand for
										 * skills */
#define MCP_SEND_TOOL		"clutch.send"	/* the tool for an envelope that
											 * has no other form */
#define MCP_CANCEL_TOOL		"clutch.task_cancel"
#define MCP_METHOD_TYPE		"mcp."	/* followed by a method, it is a
									 * payload_type */

#define MCP_STATUS_NOTICE	"notifications/tasks/status"	/* of 2025-11-25 */
#define MCP_TASKS_NOTICE	"notifications/tasks"	/* of the extension of 2026-07-28 */

extern const AdapterRow mcp_meta_rows[];
extern const AdapterRow mcp_progress_rows[];
extern const AdapterRow mcp_question_rows[];

/* Returns a new object {"jsonrpc": "2.0"}. */
extern Json *mcp_document(void);

/* Was the envelope made from a document of this form? */
extern bool mcp_is_form(const Adapter *self, const Json *envelope, const char *form);

/*
 * Returns a new envelope of that type for a message of the server.  Its sender
 * is the agent of the server that the context names; it is left open if the
 * context names none.
 */
extern Json *mcp_envelope_of_server(const Adapter *self, MessageType type, const Json *context);

/*
 * Notes the scope in which the ID of a request is unique: the session and, since
 * both sides count their requests, the side that has sent it.
 */
extern void mcp_note_scope(const Adapter *self, Json *envelope, const Json *context, bool is_servers);

/*
 * Returns the name of the server that the context names, or an absent slice if
 * it names none.
 */
extern Slice mcp_server(const Json *context);

/*
 * Notes the ID of a task of the other side, unless the context says which task
 * it is.
 */
extern void mcp_note_task(const Adapter *self, Json *envelope, const Json *context, Json *task_id);

/* Returns the ID that mcp_note_task was given, or NULL if there is none. */
extern Json *mcp_task_of(const Adapter *self, const Json *envelope);

/*
 * Returns a chat.system with the payload_type "mcp.<word>", whose payload is
 * the object at that path.
 */
extern Json *mcp_read_other(const Adapter *self, const Json *raw, Slice word, const char *path, const Json *context);

/*
 * Returns a copy of an object without its member "_meta".  It shares all
 * values.
 */
extern Json *mcp_without_meta(const Json *object);

/* Does it consist of characters that are allowed in the name of a tool? */
extern bool mcp_is_tool_name(Slice name);

/* ------------------------------------------------------------- mcp_write.c */

extern Json *mcp_outbound(const Adapter *self, const Json *envelope);

/*
 * Returns the blocks of a content, followed by links to the attachments of the
 * envelope, which have no other place in a result.  The array is new, but
 * shares its blocks.
 */
extern Json *mcp_content_with_links(const Json *content, const Json *envelope);

/* ------------------------------------------------------------- mcp_block.c */

/* Is it a block with a text that is not empty? */
extern bool mcp_is_text_block(const Json *block);
extern Json *mcp_text_block(Slice text);

/*
 * Returns the text of a content that is a single block of text, or an absent
 * slice if it is something else.
 */
extern Slice mcp_only_text(const Json *content);

/*
 * Can these values, which may be NULL, be the content and the structured
 * content of a result?  What came from a server is written as it was.
 */
extern bool mcp_may_be_written(const Adapter *self, const Json *envelope, const Json *content, const Json *structured);

/* ------------------------------------------------------------ mcp_result.c */

/* Returns the envelopes for a response. */
extern List *mcp_read_response(const Adapter *self, const Json *raw, const Json *context);

/*
 * Returns a response without a result, for the request that the envelope
 * answers.
 */
extern Json *mcp_response(const Adapter *self, const Json *envelope);

/* Does the result of a tool have content? */
extern bool mcp_has_content(const Json *result);

/*
 * Make the result of a tool at that path the payload, and the reverse.  If the
 * content only repeats the structured content, which then is the payload,
 * mcp_read_content returns true.
 */
extern bool mcp_read_content(const Adapter *self, const Json *raw, const char *at, Json *envelope);
extern void mcp_write_content(const Adapter *self, const Json *envelope, Json *raw, const char *at, bool is_structured);

/*
 * The same for a result with "isError".  Its first text becomes the message of
 * the error, all other blocks its details.
 */
extern void mcp_read_failure(const Adapter *self, const Json *raw, const char *at, Json *envelope);
extern void mcp_write_failure(const Adapter *self, const Json *envelope, Json *raw, const char *at);

/*
 * The same for an error of JSON-RPC.  mcp_write_error_at writes nothing and
 * returns false if no number stands for the code.
 */
extern void mcp_read_error_at(const Adapter *self, const Json *raw, const char *at, Json *envelope);
extern bool mcp_write_error_at(const Adapter *self, const Json *envelope, Json *raw, const char *at);

/* Return the response for an envelope. */
extern Json *mcp_write_result(const Adapter *self, const Json *envelope);
extern Json *mcp_write_error(const Adapter *self, const Json *envelope);
extern Json *mcp_write_inputs(const Adapter *self, const Json *envelope);
extern Json *mcp_write_answer(const Adapter *self, const Json *envelope);

/*
 * Returns the response to elicitation/create.  A payload without an action is
 * what a user who accepts has entered.
 */
extern Json *mcp_write_elicited(const Adapter *self, const Json *envelope);

/* ------------------------------------------------------------ mcp_status.c */

/* Returns the envelope for the status of a task at that path; and the reverse. */
extern Json *mcp_read_status(const Adapter *self, const Json *raw, const char *path, const Json *context);
extern Json *mcp_write_status(const Adapter *self, const Json *envelope);

/*
 * Returns the ID of the task that the "_meta" of the object at that path names,
 * or NULL.
 */
extern Json *mcp_related_task(const Json *raw, const char *at);

/* Notes that task, unless another one has been noted; and the reverse. */
extern void mcp_note_related_task(const Adapter *self, Json *envelope, const Json *raw, const char *at, const Json *context);
extern void mcp_write_related_task(const Adapter *self, const Json *envelope, Json *raw, const char *at);

/* Returns the envelope for tasks/update, which answers questions of a task; and its params. */
extern Json *mcp_read_update(const Adapter *self, const Json *raw, const Json *context);
extern Json *mcp_update_params(const Adapter *self, const Json *envelope);

#endif							/* CLUTCH_MCP_PART_H */
