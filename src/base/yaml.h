/*-------------------------------------------------------------------------
 *
 * yaml.h
 *	  Reading YAML as jsonb: the only user of libyaml.
 *
 * The text must be a single document, a mapping, that uses only what JSON has
 * as well: mappings with scalar keys, sequences, strings, and plain scalars
 * that are null, true, false or a number as in JSON.  Anchors, aliases and
 * tags are refused, so that no text expands while it is read.  Duplicate keys,
 * a second document, and texts beyond the limits below are refused, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_YAML_H
#define CLUTCH_YAML_H

#include "base/text.h"
#include "utils/jsonb.h"

#define YAML_MOST_BYTES		(256 * 1024)
#define YAML_MOST_NODES		4096
#define YAML_MOST_DEPTH		32

/* where and why a text was refused; counted from 1 */
typedef struct YamlFault
{
	int			line;
	int			column;
	char	   *what;			/* a clause such as "a key is there twice";
								 * palloc'd */
} YamlFault;

/*
 * Returns the document, palloc'd.  If the text is refused, returns NULL and
 * fills in *fault.
 */
extern Jsonb *yaml_read(Slice text, YamlFault *fault);

#endif							/* CLUTCH_YAML_H */
