/*-------------------------------------------------------------------------
 *
 * clutch.h
 *	  Names, SQLSTATEs and forward declarations that all of src/ uses.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_H
#define CLUTCH_H

#include "postgres.h"

#define CLUTCH_SCHEMA			"clutch"
#define CLUTCH_PROTOCOL			"clutch/0.1"

/*
 * SQLSTATE class KL belongs to clutch; docs/errors.md explains each code.
 * Where PostgreSQL has a code that fits (42501, 23505, 22023, 55P03), we use
 * that one.
 */
#define ERRCODE_CLUTCH_ENVELOPE_INVALID		MAKE_SQLSTATE('K','L','0','0','1')
#define ERRCODE_CLUTCH_CARD_INVALID			MAKE_SQLSTATE('K','L','0','0','2')
#define ERRCODE_CLUTCH_TASK_NOT_FOUND		MAKE_SQLSTATE('K','L','0','0','3')
#define ERRCODE_CLUTCH_TASK_CONFLICT		MAKE_SQLSTATE('K','L','0','0','4')
#define ERRCODE_CLUTCH_AGENT_NOT_FOUND		MAKE_SQLSTATE('K','L','0','0','5')
#define ERRCODE_CLUTCH_SIGNATURE_REFUSED	MAKE_SQLSTATE('K','L','0','0','6')
#define ERRCODE_CLUTCH_POSITION_REFUSED	MAKE_SQLSTATE('K','L','0','0','8')
#define ERRCODE_CLUTCH_LOG_IS_APPEND_ONLY	MAKE_SQLSTATE('K','L','0','0','7')
#define ERRCODE_CLUTCH_STEP_DIFFERS			MAKE_SQLSTATE('K','L','0','0','9')
#define ERRCODE_CLUTCH_CONTRACT_BROKEN		MAKE_SQLSTATE('K','L','0','1','0')
#define ERRCODE_CLUTCH_SCHEMA_INVALID		MAKE_SQLSTATE('K','L','0','1','1')
#define ERRCODE_CLUTCH_SCHEMA_INCOMPATIBLE	MAKE_SQLSTATE('K','L','0','1','2')
#define ERRCODE_CLUTCH_QUOTA_EXCEEDED		MAKE_SQLSTATE('K','L','0','1','3')
#define ERRCODE_CLUTCH_FOREIGN_INVALID		MAKE_SQLSTATE('K','L','0','1','4')
#define ERRCODE_CLUTCH_NOT_HANDLED			MAKE_SQLSTATE('K','L','0','1','5')

typedef struct Slice Slice;
typedef struct ProblemList ProblemList;
typedef struct Envelope Envelope;
typedef struct AgentCard AgentCard;
typedef struct Requirement Requirement;

#endif							/* CLUTCH_H */
