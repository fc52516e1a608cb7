/*-------------------------------------------------------------------------
 *
 * model_part.h
 *	  Private declarations of model.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_MODEL_PART_H
#define CLUTCH_MODEL_PART_H

#include "adapters/model.h"
#include "lib/stringinfo.h"

/* where the text of an answer is in its message */
#define TEXT_PLACE	"/content/text"

/*
 * the parts of an answer, whatever the form in which the interface returns
 * them
 */
typedef struct ModelAnswer
{
	Json	   *texts;			/* an array of texts, each of which is an array
								 * of non-empty pieces */
	bool		goes_on;		/* the next piece belongs to the last text */
	StringInfoData text;		/* all texts joined, each starting on a new
								 * line */
	Json	   *dropped;		/* an array of the paths of credentials that
								 * were removed from texts, or NULL if none */
	Json	   *calls;			/* an array of {"tool", "args"} */
	Json	   *data;			/* the data that came with a goal */
	Slice		context;
} ModelAnswer;

/* Adds a text.  Does nothing if it is absent or empty. */
extern void model_take_text(ModelAnswer *answer, Slice text);

/*
 * Makes "text" from "texts".  If there are several texts, credentials are
 * removed from them and listed in "dropped".
 */
extern void model_join_texts(ModelAnswer *answer);

/* Each of these reads what the interface of one family has returned. */
extern void model_read_claude(const Json *raw, ModelAnswer *answer);
extern void model_read_gpt5(const Json *raw, ModelAnswer *answer);
extern void model_read_gemini(const Json *raw, ModelAnswer *answer);

#endif							/* CLUTCH_MODEL_PART_H */
