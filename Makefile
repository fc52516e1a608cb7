# clutch: build, install and test as in any PGXS extension.
#
#   make && sudo make install     the extension
#   make demo                     everything from a bare machine to a played example
#   make check                    everything from a bare machine to all tests passed
#   make installcheck             regression and isolation tests on a running server
#   make bench                    the figures of docs/benchmarks.md
#   make bench-instructions       the instructions of the hot paths, counted by callgrind

EXTENSION = clutch
EXTVERSION = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" clutch.control)
MODULE_big = clutch

# The rooms, in the order in which an envelope walks through them.
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c \
	src/base/*.c src/semver/*.c src/protocol/*.c src/trust/*.c src/store/*.c src/ledger/*.c \
	src/registry/*.c src/routing/*.c src/task/*.c src/wake/*.c src/queue/*.c \
	src/contract/*.c src/flow/*.c src/feed/*.c src/outbox/*.c src/retention/*.c src/adapters/*.c src/worker/*.c src/api/*.c))

# One file per topic, as in src/api/; they are installed in this order.  The
# update from the version before has the topics that are new as a whole, and
# what sql/update/ says about the others.
OLD_TOPICS = schema tables protocol send admit registry routing work run read subscription schedule retention metrics
NEW_TOPICS = participant secret trust access contract ledger workflow artifact quota adapter model thread card rule outbox check comment
LAST_TOPICS = grants dump
topic_files = $(addprefix sql/install/, $(addsuffix .sql, $(1)))
SQL_PARTS = $(call topic_files, $(OLD_TOPICS) $(NEW_TOPICS) $(LAST_TOPICS))
UPDATE_PARTS = sql/update/begin.sql sql/update/changes.sql $(call topic_files, $(NEW_TOPICS) $(LAST_TOPICS)) sql/update/finish.sql

OLD_UPDATES = $(patsubst sql/update/%, sql/%, $(wildcard sql/update/clutch--*--*.sql))

DATA_built = sql/clutch--$(EXTVERSION).sql sql/clutch--0.2.0--$(EXTVERSION).sql $(OLD_UPDATES)

PG_CPPFLAGS = -I$(srcdir)/src -DCLUTCH_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter \
	-Wno-missing-field-initializers -Wno-sign-compare $(OPTIMIZE)

# The rooms call one another for every field of an envelope.  Compiled as a whole,
# which gcc can do everywhere, they take 1 to 9 % fewer instructions; "make
# OPTIMIZE=" compiles faster.  What a compiler suspects only then is no error.
OPTIMIZE ?= $(if $(findstring gcc,$(CC)),-O3 -flto=auto)

SHLIB_LINK = -Wno-error -Wl,--version-script=$(srcdir)/src/clutch.map -lsodium -lyaml

# LLVM bitcode would need the very clang the server was built with, for code
# that no query inlines.
override with_llvm = no

# Stories with exact output, and races; the outputs of both are in expected/.
# PostgreSQL 15 looks for them beside the input, later versions in the current
# folder: a folder of links suits all.  The first race makes what all share of
# test/fixtures/team.sql.  With TAP_TESTS=1 (not as root) also the
# tests that start clusters of their own.
REGRESS_PREP = tmp_input
REGRESS = $(patsubst test/sql/%.sql,%,$(sort $(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=tmp_input
ISOLATION = fixture $(patsubst test/isolation/specs/%.spec,%,$(sort $(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=tmp_input --load-extension=clutch
PROVE_TESTS = test/t/*.pl

EXTRA_CLEAN = sql/clutch--*.sql tmp_input

PG_CONFIG ?= pg_config

# These begin on a machine without PostgreSQL, and install what they need.
MACHINE_GOALS = demo demo-psql check bench bench-instructions
ifneq ($(filter $(MACHINE_GOALS),$(MAKECMDGOALS)),)

.PHONY: $(MACHINE_GOALS)
export PG_CONFIG := $(filter-out pg_config,$(PG_CONFIG))

demo:
	@test/demo/demo.sh

demo-psql:
	@test/demo/psql.sh

check:
	@test/run/check.sh

bench:
	@test/run/bench.sh

bench-instructions:
	@test/run/bench_instructions.sh

else

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Few files, quickly compiled: a changed header makes all of them anew.
$(OBJS): $(wildcard src/*.h src/*/*.h)

# which have the version in them
src/base/rows_catalog.o src/api/run_fn.o: clutch.control

sql/clutch--$(EXTVERSION).sql: $(SQL_PARTS) clutch.control
	cat $(SQL_PARTS) > $@

sql/clutch--0.2.0--$(EXTVERSION).sql: $(UPDATE_PARTS) clutch.control
	cat $(UPDATE_PARTS) > $@

$(OLD_UPDATES): sql/%: sql/update/begin.sql sql/update/%
	cat $^ > $@

.PHONY: tmp_input
tmp_input:
	rm -rf $@
	mkdir -p $@/specs
	ln -s $(addprefix $(abspath $(srcdir))/, test/sql expected) $@
	ln -s $(abspath $(srcdir))/test/isolation/specs/*.spec $@/specs
	{ echo 'setup {'; cat $(srcdir)/test/fixtures/team.sql; echo '}'; \
	  echo 'session s step made { SELECT nspname FROM pg_namespace WHERE nspname = '\''fixture'\''; }'; } \
	  >$@/specs/fixture.spec

endif
