/*-------------------------------------------------------------------------
 *
 * model.h
 *	  Prompts for language models, and their answers (spec 001, adapters).
 *
 * A family stands for the interfaces of one vendor: claude, gpt5 or gemini.  A
 * prompt is the body of a request to such an interface, without the name of
 * the model and its settings.  The answer of the model becomes a message of
 * "multiagent-1.0", which the adapter of that name translates.
 *
 * Everything that others have written is inside the fence of the rendering
 * (protocol/rendering.h), so that a payload cannot pass itself off as part of
 * the prompt.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MODEL_H
#define CLUTCH_MODEL_H

#include "base/json.h"

typedef struct ModelFamily ModelFamily;

/* Returns the family of that name, or NULL if there is none. */
extern const ModelFamily *model_family(Slice name);

/* the names of all families, for a hint */
#define MODEL_FAMILIES	"claude, gpt5 and gemini"

/*
 * Returns the prompt for a rendered envelope or thread: {"messages": [..]} for
 * claude and gpt5, {"contents": [..]} for gemini.  An intent that spec 001
 * does not define becomes "reflect".
 */
extern Json *model_prompt(const ModelFamily *family, Slice intent, const char *rendered);

/*
 * Makes a message from an answer, which is what the interface has returned, or
 * what a program passes instead: a text, {"system", "user"} or {"goal",
 * "data"}.  If the model itself has written a message of multiagent-1.0, that
 * message is returned, but in the role of an agent, with the tokens that the
 * interface has counted, and with "reflect" in place of an intent that is not
 * defined.  Returns NULL if the answer has neither a text nor a tool call.
 *
 * Credentials are removed when the message is translated.  Only if there are
 * several texts are they removed here, because they would not be found once
 * the texts are joined.  *dropped is the array of their paths, like
 * /content/text/1/token for the second text, or NULL.
 */
extern Json *model_message(const ModelFamily *family, const Json *raw, Json **dropped);

/*
 * Returns why the answer has ended, or what error it is, in the words of the
 * interface, or an absent slice if it does not say.
 */
extern Slice model_said_why(const Json *raw);

#endif							/* CLUTCH_MODEL_H */
