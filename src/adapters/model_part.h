/*-------------------------------------------------------------------------
 *
 * model_part.h
 *	  What the files of model share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MODEL_PART_H
#define CLUTCH_MODEL_PART_H

#include "adapters/model.h"
#include "lib/stringinfo.h"

/* where the text of an answer stands in its message */
#define TEXT_PLACE	"/content/text"

/* the parts of an answer, in whatever form the interface returns them */
typedef struct ModelAnswer
{
	Json	   *texts;			/* an array of texts, each of which is an array of pieces that are not empty */
	bool		goes_on;		/* the next piece belongs to the last of them */
	StringInfoData text;		/* all of them, in lines of their own */
	Json	   *dropped;		/* an array of the paths of credentials that were removed from texts; NULL: none */
	Json	   *calls;			/* an array of {"tool", "args"} */
	Json	   *data;			/* of a goal */
	Slice		context;
} ModelAnswer;

/* Adds a text; absent or empty: nothing is done. */
extern void model_take_text(ModelAnswer *answer, Slice text);

/* Makes "text" of the texts, without credentials if there are several; those are listed in "dropped". */
extern void model_join_texts(ModelAnswer *answer);

/* Each reads what the interface of a family has returned. */
extern void model_read_claude(const Json *raw, ModelAnswer *answer);
extern void model_read_gpt5(const Json *raw, ModelAnswer *answer);
extern void model_read_gemini(const Json *raw, ModelAnswer *answer);

#endif							/* CLUTCH_MODEL_PART_H */
