/*-------------------------------------------------------------------------
 *
 * model.h
 *	  Prompts for language models, and their answers (spec 001, adapters).
 *
 * A family stands for the interfaces of one vendor: claude, gpt5 or gemini.  A prompt is
 * the body of a request to such an interface, without the name of the model and its
 * settings.  The answer of the model becomes a message of "multiagent-1.0", for the
 * adapter of that name.
 *
 * Everything that others have written is inside the fence of the rendering
 * (protocol/rendering.h), so a payload cannot pass for a part of the prompt.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MODEL_H
#define CLUTCH_MODEL_H

#include "base/json.h"

typedef struct ModelFamily ModelFamily;

/* the family of that name; NULL: there is none */
extern const ModelFamily *model_family(Slice name);

/* their names, for a hint */
#define MODEL_FAMILIES	"claude, gpt5 and gemini"

/*
 * The prompt for a rendered envelope or thread: {"messages": [..]} for claude and gpt5,
 * {"contents": [..]} for gemini.  An intent that spec 001 does not define becomes
 * "reflect".
 */
extern Json *model_prompt(const ModelFamily *family, Slice intent, const char *rendered);

/*
 * The message that an answer makes.  The answer is what the interface has returned, or
 * what a program passes instead: a text, {"system", "user"} or {"goal", "data"}.  If the
 * model has written a message of multiagent-1.0 itself, that message is returned, in
 * which only an intent that is not defined becomes "reflect".  NULL: the answer has
 * neither a text nor a tool call.
 */
extern Json *model_message(const ModelFamily *family, const Json *raw);

#endif							/* CLUTCH_MODEL_H */
