/*-------------------------------------------------------------------------
 *
 * path.c
 *	  SQL/JSON paths of filters and rules.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "base/number.h"
#include "compat.h"
#include "base/path.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonpath.h"
#include "utils/numeric.h"

static struct varlena *
path_parse_jsonpath(char *text)
{
	return (struct varlena *) DatumGetPointer(DirectFunctionCall1(jsonpath_in, CStringGetDatum(text)));
}

/*
 * Returns what a function of the server finds by a path, or NULL.  These must
 * be the functions that support time zones, because the others raise an error
 * where they would need one, even if they are called as silent.
 */
static Jsonb *
path_query(Oid function_oid, struct varlena *jsonpath, Jsonb *document)
{
	LOCAL_FCINFO(fcinfo, 4);
	FmgrInfo	function;
	DocumentBuilder variables;
	Datum		found;

	document_begin(&variables);
	fmgr_info(function_oid, &function);
	InitFunctionCallInfoData(*fcinfo, &function, 4, InvalidOid, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {JsonbPGetDatum(document), false};
	fcinfo->args[1] = (NullableDatum) {PointerGetDatum(jsonpath), false};
	fcinfo->args[2] = (NullableDatum) {JsonbPGetDatum(document_end(&variables)), false};
	fcinfo->args[3] = (NullableDatum) {BoolGetDatum(true), false};	/* silent */
	found = FunctionCallInvoke(fcinfo);
	return fcinfo->isnull ? NULL : DatumGetJsonbP(found);
}

/*
 * Returns the first item that the path finds, or NULL if it finds nothing or
 * cannot be applied.
 */
static Jsonb *
path_query_first(struct varlena *jsonpath, Jsonb *document)
{
	return path_query(F_JSONB_PATH_QUERY_FIRST_TZ, jsonpath, document);
}

/* -------------------------------------------------------- walking the items */

/* Appends a literal argument of a method as it is written in a path. */
static void
path_append_literal(StringInfo text, JsonPathItem *literal)
{
	JsonPathItem operand;

	switch (literal->type)
	{
		case jpiString:
			escape_json(text, jspGetString(literal, NULL));
			break;
		case jpiNumeric:
			appendStringInfoString(text, DatumGetCString(DirectFunctionCall1(numeric_out,
																			 NumericGetDatum(jspGetNumeric(literal)))));
			break;
		case jpiPlus:
		case jpiMinus:
			appendStringInfoChar(text, literal->type == jpiPlus ? '+' : '-');
			jspGetArg(literal, &operand);
			path_append_literal(text, &operand);
			break;
		default:
			elog(ERROR, "unexpected argument of a method of a path: %d", (int) literal->type);
	}
}

/*
 * Applies a method with literal arguments to some text.  If the arguments are
 * wrong, such as an invalid format for datetime(), the server raises an error
 * whatever the method is applied to, silent or not.  If we did not refuse such
 * a path here, every reader that applies it would get that error.
 */
static void
path_try_method(JsonPathItemType type, JsonPathItem *first, JsonPathItem *second)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "$.%s(", jspOperationName(type));
	path_append_literal(&text, first);
	if (second != NULL)
	{
		appendStringInfoChar(&text, ',');
		path_append_literal(&text, second);
	}
	appendStringInfoChar(&text, ')');
	(void) path_query_first(path_parse_jsonpath(text.data),
							DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
															   CStringGetDatum("\"1\""))));
}

#define MOST_CHEAP_ITEMS	100
#define MOST_CHEAP_BYTES	4096

static void path_walk_item(JsonPathItem *item, DocumentPath *path);

static bool
path_is_literal(JsonPathItem *item)
{
	return item->type == jpiString || item->type == jpiNumeric || item->type == jpiBool || item->type == jpiNull;
}

/*
 * Judges the cost of a comparison, in which each item on one side is compared
 * with each item on the other.
 */
static void
path_judge_comparison(JsonPathItem *item, DocumentPath *path)
{
	JsonPathItem left;
	JsonPathItem right;

	jspGetLeftArg(item, &left);
	jspGetRightArg(item, &right);
	if (!path_is_literal(&left) && !path_is_literal(&right))
		path->is_costly = true;
}

/* Is it written with few signs, like 1e130000, but would fill much memory as a text? */
static bool
path_is_long_number(Numeric number)
{
	return !number_fits_double(number) || number_is_too_long(number);
}

static void
path_judge_cost(JsonPathItem *item, DocumentPath *path)
{
	path->nitems++;
	switch (item->type)
	{
		case jpiAny:
		case jpiLikeRegex:
		case jpiKeyValue:
		case jpiAdd:
		case jpiSub:
		case jpiMul:
		case jpiDiv:
		case jpiMod:
			path->is_costly = true;
			break;
		case jpiNumeric:
			path->is_costly = path->is_costly || path_is_long_number(jspGetNumeric(item));
			break;
		case jpiRoot:
			path->is_costly = path->is_costly || path->nfilters > 0;
			break;
		case jpiIndexArray:
			/* several of them multiply what is found, even in a small document */
			path->is_costly = path->is_costly || item->content.array.nelems > 1;
			break;
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
			path_judge_comparison(item, path);
			break;
		default:
			break;
	}
	if (path->nitems > MOST_CHEAP_ITEMS)
		path->is_costly = true;
}

static void
path_walk_operands(JsonPathItem *item, DocumentPath *path)
{
	JsonPathItem operand;

	jspGetLeftArg(item, &operand);
	path_walk_item(&operand, path);
	jspGetRightArg(item, &operand);
	path_walk_item(&operand, path);
}

static void
path_walk_argument(JsonPathItem *item, DocumentPath *path)
{
	JsonPathItem argument;

	jspGetArg(item, &argument);
	path_walk_item(&argument, path);
}

static void
path_walk_subscripts(JsonPathItem *item, DocumentPath *path)
{
	int			i;

	for (i = 0; i < item->content.array.nelems; i++)
	{
		JsonPathItem from;
		JsonPathItem to;
		bool		is_range = jspGetArraySubscript(item, &from, &to, i);

		path_walk_item(&from, path);
		if (is_range)
			path_walk_item(&to, path);
	}
}

/* Examines .method(), .method(1) or .method("format"). */
static void
path_walk_method(JsonPathItem *item)
{
	JsonPathItem argument;

	if (item->content.arg == 0)
		return;
	jspGetArg(item, &argument);
	path_try_method(item->type, &argument, NULL);
}

#if PG_VERSION_NUM >= 170000
/* Examines .decimal(), .decimal(1) or .decimal(1, 2). */
static void
path_walk_decimal(JsonPathItem *item)
{
	JsonPathItem precision;
	JsonPathItem scale;

	if (item->content.args.left == 0)
		return;
	jspGetLeftArg(item, &precision);
	if (item->content.args.right != 0)
		jspGetRightArg(item, &scale);
	path_try_method(item->type, &precision, item->content.args.right != 0 ? &scale : NULL);
}
#endif

/* Examines one item of the path, without what follows it. */
static void
path_walk_parts(JsonPathItem *item, DocumentPath *path)
{
	JsonPathItem expression;

	path_judge_cost(item, path);
	switch (item->type)
	{
		case jpiVariable:
			path->has_variable = true;
			break;
		case jpiAnd:
		case jpiOr:
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
		case jpiAdd:
		case jpiSub:
		case jpiMul:
		case jpiDiv:
		case jpiMod:
		case jpiStartsWith:
			path_walk_operands(item, path);
			break;
		case jpiFilter:
			path->nfilters++;
			path_walk_argument(item, path);
			path->nfilters--;
			break;
		case jpiNot:
		case jpiIsUnknown:
		case jpiPlus:
		case jpiMinus:
		case jpiExists:
			path_walk_argument(item, path);
			break;
		case jpiLikeRegex:
			jspInitByBuffer(&expression, item->base, item->content.like_regex.expr);
			path_walk_item(&expression, path);
			break;
		case jpiIndexArray:
			path_walk_subscripts(item, path);
			break;
		CASE_JSONPATH_METHODS_WITH_ARGUMENT_COMPAT:
			path_walk_method(item);
			break;
#if PG_VERSION_NUM >= 170000
		case jpiDecimal:
			path_walk_decimal(item);
			break;
#endif
		default:
			break;				/* it has no parts */
	}
}

/* Examines an item of the path and all that follow it. */
static void
path_walk_item(JsonPathItem *item, DocumentPath *path)
{
	JsonPathItem here = *item;
	JsonPathItem next;

	check_stack_depth();
	for (;;)
	{
		path_walk_parts(&here, path);
		if (!jspGetNext(&here, &next))
			return;
		here = next;
	}
}

/* ----------------------------------------------------------------- the path */

/*
 * Is the path a predicate, which is true, false or unknown, rather than
 * something that it finds?
 */
static bool
path_is_predicate(JsonPathItem *root)
{
	switch (root->type)
	{
		case jpiAnd:
		case jpiOr:
		case jpiNot:
		case jpiIsUnknown:
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
		case jpiExists:
		case jpiStartsWith:
		case jpiLikeRegex:
			return !jspHasNext(root);
		default:
			return false;
	}
}

DocumentPath
path_parse(Slice text)
{
	DocumentPath	path = {0};
	JsonPathItem root;

	path.jsonpath = path_parse_jsonpath(slice_cstring(text));
	jspInit(&root, (JsonPath *) path.jsonpath);
	path.is_predicate = path_is_predicate(&root);
	path.is_costly = text.len > MOST_CHEAP_BYTES;
	path_walk_item(&root, &path);
	return path;
}

/* Does the error concern the text, rather than the server's own state? */
static bool
path_error_concerns_text(int sqlerrcode)
{
	return ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_DATA_EXCEPTION ||
		sqlerrcode == ERRCODE_SYNTAX_ERROR || sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED;
}

/*
 * The error is caught without a subtransaction.  We would need one if parsing
 * took locks, pins or anything else that a rollback releases, but it only
 * takes memory.
 */
const char *
path_read(Slice text, DocumentPath *path)
{
	MemoryContext context = CurrentMemoryContext;
	const char *volatile fault = NULL;

	*path = (DocumentPath) {0};
	PG_TRY();
	{
		*path = path_parse(text);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (!path_error_concerns_text(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		fault = psprintf("is not an SQL/JSON path: %s", error->message);
	}
	PG_END_TRY();
	if (fault == NULL && path->has_variable)
		fault = "must not name a variable: write the value itself";
	return fault;
}

/*
 * A boolean that the path finds counts by its value.  If a predicate yields
 * null, it is unknown, and so not true; but a null that the path finds counts
 * as found.
 */
bool
path_fits(const DocumentPath *path, Jsonb *document)
{
	Jsonb	   *found;
	JsonbValue	scalar;

	if (path->jsonpath == NULL)
		return true;
	found = path_query_first(path->jsonpath, document);
	if (found == NULL)
		return false;
	if (!JsonbExtractScalar(&found->root, &scalar))
		return true;
	if (scalar.type == jbvBool)
		return scalar.val.boolean;
	return !(scalar.type == jbvNull && path->is_predicate);
}

Slice
path_first_text(const DocumentPath *path, Jsonb *document)
{
	Jsonb	   *found = path->jsonpath == NULL ? NULL : path_query_first(path->jsonpath, document);
	JsonbValue	scalar;

	return found != NULL && JsonbExtractScalar(&found->root, &scalar) ? document_text(&scalar) : SLICE_NONE;
}

List *
path_list(const DocumentPath *path, Jsonb *document, int most)
{
	Jsonb	   *found = path->jsonpath == NULL ? NULL :
		path_query(F_JSONB_PATH_QUERY_ARRAY_TZ, path->jsonpath, document);
	int			n = found != NULL ? JsonContainerSize(&found->root) : 0;
	List	   *items = NIL;
	int			i;

	for (i = 0; i < Min(n, most); i++)
		items = lappend(items, document_of_value(getIthJsonbValueFromContainer(&found->root, i)));
	return items;
}
