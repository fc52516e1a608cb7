/*-------------------------------------------------------------------------
 *
 * model.h
 *	  What language models are asked, and what they say (spec 001, adapters).
 *
 * A family is what the interfaces of one vendor have in common: claude, gpt5 and
 * gemini.  A prompt is what such an interface is called with, apart from the name of
 * the model and its settings.  What a model said becomes a message of
 * "multiagent-1.0", for the adapter of that name.
 *
 * Nothing that others wrote stands outside of the fence of the rendering
 * (protocol/rendering.h), so no payload can give orders in the name of the prompt.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MODEL_H
#define CLUTCH_MODEL_H

#include "base/json.h"

typedef struct ModelFamily ModelFamily;

/* NULL: there is none of that name */
extern const ModelFamily *model_family(Slice name);

/* their names, for a hint */
#define MODEL_FAMILIES	"claude, gpt5 and gemini"

/*
 * What the model is called with: {"messages": [..]} for claude and gpt5, {"contents":
 * [..]} for gemini.  An intent that spec 001 does not have becomes "reflect".
 */
extern Json *model_prompt(const ModelFamily *family, Slice intent, const char *rendered);

/*
 * The message that an answer of the model makes.  The answer is what the interface
 * returned, or what a program asked (a text, {"system", "user"}, {"goal", "data"}).
 * If the model returned a message of multiagent-1.0, it is taken as it is, except
 * that an intent that does not exist becomes "reflect".  NULL: there is neither a text
 * nor a call of a tool.
 */
extern Json *model_message(const ModelFamily *family, const Json *raw);

#endif							/* CLUTCH_MODEL_H */
