/*-------------------------------------------------------------------------
 *
 * level.h
 *	  The words for what is ranked: network, trust, cost.
 *
 * In the order of NetworkLevel, TrustLevel and CostHint, ended by NULL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LEVEL_H
#define CLUTCH_LEVEL_H

extern const char *const level_network[];
extern const char *const level_trust[];
extern const char *const level_cost[];

#endif							/* CLUTCH_LEVEL_H */
