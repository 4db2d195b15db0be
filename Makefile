# make              build bin/ikigai and the libexec/ikigai links
# make demo         build, and start a conversation (offline where no key is set)
# make check        build and run every test; ends with "N passed, N failed, N skipped"
# make check-all    the same, then what is slow, then all again with sanitizers
# make bench        figures, as ratios within one run; ROWS=start,chat: only these; CORPUS=DIR: to search in
# make picture      draws the README's conversation anew, as the program shows it
# make fuzz         looks for bytes that break something; TIME=600 TARGETS="html sse": seconds each, only these
# make install      PREFIX=/usr/local DESTDIR=; make uninstall takes away what it has put there
# make dist         build/dist/: an archive to unpack anywhere; the same bytes wherever a commit is built
# make deb          build/dist/: a package of Debian, as reproducible
# make debug=1      build/debug/bin/ikigai: -O0, assertions
# make sanitize=1   build/sanitize/bin/ikigai: address and undefined behaviour, dynamic
# make lint         clang-tidy, cppcheck, shellcheck and mandoc; FILES="src/host.cc": only these with clang-tidy
# make valgrind     the tools and a conversation under valgrind
# make coverage     which lines the tests reach, by folder; build/coverage/lines.txt: by file
# make tool-NAME    the binary and one link
# HTTPLIB=DIR       names a folder with httplib.h, instead of fetching it
# CA_BUNDLE=FILE    certificates to build in, instead of this machine's

PREFIX   = /usr/local
CXX      = g++
CPPFLAGS = -Isrc -isystem $(HTTPLIB)
ANYWHERE = -ffile-prefix-map=$(HTTPLIB)=httplib -ffile-prefix-map=$(CURDIR)=.
CXXFLAGS = -std=c++20 $(OPTIMIZE) $(DEBUG_INFO) -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-maybe-uninitialized -ffunction-sections -fdata-sections
WARNINGS = -Wold-style-cast -Wcast-qual -Wcast-align -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wdouble-promotion -Wextra-semi \
           -Wformat=2 -Wredundant-decls -Wsuggest-override -Wnon-virtual-dtor -Woverloaded-virtual -Wzero-as-null-pointer-constant
# Static and position-independent at once is not for us: the relocations would double the start of an applet.
HARDENING = -fstack-protector-strong -D_FORTIFY_SOURCE=2
LDFLAGS  = $(STATIC) -Wl,--gc-sections
LDLIBS   = -lgumbo -lsqlite3 -lcmark-gfm-extensions -lcmark-gfm -lutf8proc -lssl -lcrypto -lz -lm

OPTIMIZE = -O2
COMPACT  = -Os
# Functions and lines. Variables as well, as debug=1 has them, take a third of the time to compile.
DEBUG_INFO = -g1
STATIC   = -static
BUILD    = build
ROOT     = .
HTTPLIB  = build/deps
CA_BUNDLE = /etc/ssl/certs/ca-certificates.crt
ifdef debug
  OPTIMIZE = -O0 -D_GLIBCXX_ASSERTIONS
  DEBUG_INFO = -g
  BUILD    = build/debug
  ROOT     = $(BUILD)
endif
ifdef sanitize
  OPTIMIZE = -O1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS -fsanitize=address,undefined -fno-sanitize-recover=undefined
  STATIC   =
  BUILD    = build/sanitize
  ROOT     = $(BUILD)
endif

# Only from `make valgrind`, which would not see the allocations of a static program.
ifdef memcheck
  OPTIMIZE = -O1 -fno-omit-frame-pointer
  STATIC   =
  BUILD    = build/memcheck
  ROOT     = $(BUILD)
endif

# Only from `make coverage`. Between vfork and exec nothing may be written, as gcc's own execve would.
ifdef coverage
  OPTIMIZE = -O0 -w --coverage -fprofile-update=atomic -fno-builtin-execve
  STATIC   = -Wl,--wrap=_exit,--wrap=raise
  BUILD    = build/coverage
  ROOT     = $(BUILD)
endif

# Only from `make fuzz`: another compiler, which warns of other things.
ifdef fuzzing
  override CXX = $(FUZZ_CXX)
  OPTIMIZE = -O1 -w -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
  STATIC   =
  BUILD    = build/fuzz
  ROOT     = $(BUILD)
endif
FUZZ_CXX = clang++-16

unstripped = $(debug)$(sanitize)$(memcheck)$(coverage)
ifneq ($(unstripped)$(fuzzing),)
  COMPACT = $(OPTIMIZE)
endif

sources := $(sort $(wildcard src/*.cc)) $(sort $(wildcard src/*/*.cc))
bundles := $(BUILD)/base/certificates_bundle.o $(BUILD)/texts_bundle.o
objects := $(sources:src/%.cc=$(BUILD)/%.o) $(bundles)
ifdef coverage
  objects += $(BUILD)/coverage.o
endif
library := $(filter-out $(BUILD)/main.o,$(objects))
tests   := $(patsubst tests/%.cc,$(BUILD)/tests/%.o,$(wildcard tests/*.cc tests/*/*.cc))
entries := $(patsubst fuzz/%.cc,$(BUILD)/fuzz-entries/%.o,$(filter-out fuzz/main.cc,$(wildcard fuzz/*.cc)))
applets := $(subst _,-,$(shell sed -n 's/^APPLET(\(.*\))/\1/p' src/applets/applets.def))
link_names := $(applets:web-%=web-%-tool)
links   := $(link_names:%=$(ROOT)/libexec/ikigai/%)
pages   := $(applets:%=$(BUILD)/man/ikigai-%.1)
written := man/ikigai.1 $(sort $(wildcard man/*.7))
deps    := $(HTTPLIB)/httplib.h

all: $(ROOT)/bin/ikigai $(links)
tools: all
tool-web-%: $(ROOT)/libexec/ikigai/web-%-tool ;
tool-%: $(ROOT)/libexec/ikigai/% ;

# What is copied to hosts carries no debug information; build/ikigai does. Copied once more, because what strip
# writes lies in the page cache in such large pieces that every process of ours would map most of it.
$(ROOT)/bin/ikigai: $(BUILD)/ikigai
	@mkdir -p $(@D)
	$(if $(unstripped),,strip -o $<.stripped $<)
	cp $<$(if $(unstripped),,.stripped) $@

$(BUILD)/ikigai: $(objects)
	@mkdir -p $(@D)
	make/link $(CXX) $(CXXFLAGS) $(LDFLAGS) $(objects) $(LDLIBS) -o $@

# Speed is for what bytes stream through. The rest is a third as large, and so is what a start reads of it.
$(patsubst src/%.cc,$(BUILD)/%.o,$(wildcard src/*.cc src/agent/*.cc src/store/*.cc) src/base/http.cc): OPTIMIZE := $(COMPACT)

$(BUILD)/coverage.o: make/coverage.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++20 -O1 -c $< -o $@


# No name of the folder where it is built gets into the program (ANYWHERE): two builds of a commit are equal.
$(filter-out $(bundles) %/coverage.o,$(objects)): $(BUILD)/%.o: src/%.cc | $(deps)
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(if $(fuzzing)$(coverage),,$(WARNINGS)) $(if $(unstripped)$(fuzzing),,$(HARDENING)) $(ANYWHERE) -MMD -MP -c $< -o $@

$(BUILD)/base/certificates_bundle.o: src/base/bundle.S $(wildcard $(CA_BUNDLE)) | $(deps)
	@mkdir -p $(@D)
	$(CXX) -DNAME=ikigai_certificates -DFILE='"$(CA_BUNDLE)"' -c $< -o $@

# The manual and the licences. The applets' pages come out of their declarations, by a program of its own.
$(BUILD)/texts_bundle.o: src/base/bundle.S $(BUILD)/texts.gz
	$(CXX) -DNAME=ikigai_texts -DFILE='"$(BUILD)/texts.gz"' -c $< -o $@

$(BUILD)/texts.gz: make/texts $(BUILD)/licences $(written) $(pages)
	make/texts $(BUILD)/licences $(written) $(pages) > $(BUILD)/texts
	gzip -9nc $(BUILD)/texts > $@

$(BUILD)/licences: make/licences LICENSE | $(deps)
	@mkdir -p $(@D)
	make/licences "$(HTTPLIB)" > $(BUILD)/notices
	make/licences "$(HTTPLIB)" whole > $@

$(BUILD)/applet-pages: make/applet_pages.cc $(filter $(BUILD)/applets/% $(BUILD)/base/%,$(objects))
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) $^ $(LDLIBS) -o $@

$(pages): $(BUILD)/man/ikigai-%.1: $(BUILD)/applet-pages
	@mkdir -p $(@D)
	$< $* > $@

build/deps/httplib.h: make/deps
	make/deps build/deps
	@touch $@

$(links): | $(ROOT)/bin/ikigai
	@mkdir -p $(@D)
	ln -sf ../../bin/ikigai $@

# The commit is part of --version; the file changes only when the commit does.
$(BUILD)/version.o: $(BUILD)/commit.h
$(BUILD)/version.o: CPPFLAGS += -I$(BUILD)
$(BUILD)/commit.h: always
	@mkdir -p $(@D)
	@commit=$$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown); \
	    printf '#define IKIGAI_COMMIT "%s"\n' "$$commit" | cmp -s - $@ || printf '#define IKIGAI_COMMIT "%s"\n' "$$commit" > $@

$(tests) $(entries): private OPTIMIZE := $(filter-out --coverage,$(OPTIMIZE))

$(tests): $(BUILD)/tests/%.o: tests/%.cc | $(deps)
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) -Itests -I. $(CXXFLAGS) $(if $(sanitize),,-O0) -MMD -MP -c $< -o $@

$(BUILD)/unit: $(tests) $(entries) $(library)
	$(CXX) $(CXXFLAGS) $(if $(coverage),$(STATIC)) $^ $(LDLIBS) -lvterm -lCatch2WithMain -o $@

ifdef coverage
$(BUILD)/tests/support/world.o: CPPFLAGS += -DLINES_ARE_COUNTED
endif

ifdef fuzzing
# RapidJSON's stack begins with an offset to a null pointer, which only clang's sanitizer minds.
$(BUILD)/base/json.o $(BUILD)/base/json_schema.o: CXXFLAGS += -fno-sanitize=pointer-overflow
endif

# ---- Fuzzers: any bytes into the functions of fuzz/. The tests call the same functions with the seeds of tests/fuzz.
TIME     = 60
TARGETS  = $(shell sed -n 's/^TARGET(\(.*\))/\1/p' fuzz/targets.def)

$(BUILD)/fuzz-entries/%.o: fuzz/%.cc | $(deps)
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) -I. $(CXXFLAGS) $(if $(fuzzing)$(sanitize),,-O0) -MMD -MP -c $< -o $@

$(BUILD)/fuzzer: $(entries) $(BUILD)/fuzz-entries/main.o $(library)
	$(CXX) $(CXXFLAGS) -fsanitize=fuzzer $^ $(LDLIBS) -o $@

fuzz:
	@make/packages clang-16 libclang-rt-16-dev
	$(MAKE) fuzzing=1 build/fuzz/fuzzer
	@make/fuzz build/fuzz $(TIME) $(TARGETS)

# ---- Figures: no part of the check, and only of use without debug= and sanitize=.
CORPUS  = $(or $(XDG_CACHE_HOME),/var/cache)/ikigai/linux-source-6.1
benches := $(patsubst bench/%.cc,$(BUILD)/bench-objects/%.o,$(wildcard bench/*.cc)) $(BUILD)/tests/support/server.o

$(filter $(BUILD)/bench-objects/%,$(benches)): $(BUILD)/bench-objects/%.o: bench/%.cc | $(deps)
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) -Ibench -Itests $(CXXFLAGS) -MMD -MP -c $< -o $@

# The library first: of what both hold, the linker takes the first, and the tests are not optimised.
$(BUILD)/bench: $(library) $(benches)
	make/link $(CXX) $(CXXFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/bench-%: bench/%.c
	$(CC) -O2 -Wall -Wextra $(STATIC) $< -o $@

bench: all $(BUILD)/bench $(BUILD)/bench-noop $(BUILD)/bench-loud
	@make/bench-references "$(CORPUS)" "$(ROWS)"
	@CORPUS="$(CORPUS)" RECORDINGS="$${RECORDINGS-$(CURDIR)/../shared/recordings}" $(BUILD)/bench $(ROWS)

# A layer may include itself and the layers named after its colon.
layers = base: agent:base applets:base term:base llm:base store:base
check-layers:
	@for l in $(layers); do \
	    bad=$$(grep -HnoE '^#include "[a-z]+/' src/$${l%%:*}/*.* 2>/dev/null | \
	        grep -vE "\"($${l%%:*}|$${l#*:})/$$"); \
	    [ -z "$$bad" ] || { echo "$$bad: wrong layer"; exit 1; }; \
	done
	@! grep -rnE 'rapidjson' src --include='*.cc' --include='*.h' | grep -vE '^src/base/json|^src/version'
	@! grep -rnE 'include.*httplib' src | grep -vE '^src/base/http|^src/version'
	@! grep -rnE 'include.*gumbo' src | grep -vE '^src/applets/html_tree'
	@! grep -rnE 'include.*sqlite3|sqlite3_' src | grep -vE '^src/store/db'
	@! grep -rnE 'include.*zlib' src | grep -vE '^src/base/inflate'
	@! grep -rnE 'utf8proc' src --include='*.cc' --include='*.h' | grep -vE '^src/term/width|^src/version'
	@! grep -rnE 'include.*cmark' src --include='*.cc' --include='*.h' | grep -vE '^src/term/markdown|^src/version'

with_tests = cd $(BUILD) && IKIGAI_HTTPLIB="$(abspath $(HTTPLIB))" IKIGAI_ROOT="$(CURDIR)" IKIGAI_BUILD="$(CURDIR)/$(BUILD)" IKIGAI_BIN="$(abspath $(ROOT))"

check: all $(pages) $(BUILD)/unit
	@make/packages git jq systemd
	$(with_tests) ./unit

# What takes longer is hidden from `make check` by its tag.
check-all: check
	@make/packages lintian zsh fish debootstrap qemu-user-static
	$(with_tests) IKIGAI_KILLS=1000 ./unit "[torture],[systems]"
	$(MAKE) check sanitize=1

picture: all $(BUILD)/unit
	$(with_tests) IKIGAI_PICTURE=write ./unit "picture: *"

# ---- What lets faults be seen that no test asks for.
FILES = $(sources)
lint: $(BUILD)/commit.h | $(deps)
	@make/packages clang-tidy-16 cppcheck shellcheck mandoc
	@make/lint $(HTTPLIB) $(FILES)

valgrind: $(BUILD)/unit
	@make/packages valgrind
	$(MAKE) memcheck=1
	$(with_tests) IKIGAI_MEMCHECK="$(CURDIR)/build/memcheck" ./unit "[.valgrind]"

# A test may fail here that mostly waits: the figures are those of all that ran.
coverage:
	@make/packages gcovr
	@[ ! -e build/coverage ] || find build/coverage -name '*.gcda' -delete
	-$(MAKE) coverage=1 check
	@make/coverage build/coverage

demo: all
	@$(ROOT)/bin/ikigai chat

# ---- What is shipped: first as a tree, as it will be below PREFIX; all else is made of that.
stage = $(BUILD)/stage
epoch = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y man/ikigai.1))

stage: all
	@make/stage $(ROOT)/bin/ikigai $(BUILD) $(stage) $(link_names)

install: stage
	@make/install $(stage) "$(DESTDIR)$(PREFIX)"

uninstall: stage
	@make/install --remove $(stage) "$(DESTDIR)$(PREFIX)"

dist: stage
	@SOURCE_DATE_EPOCH=$(epoch) make/dist $(stage) $(BUILD)/dist

deb: stage
	@SOURCE_DATE_EPOCH=$(epoch) make/deb $(stage) $(BUILD)/notices $(BUILD)/dist

clean:
	rm -rf bin build libexec

.PHONY: all tools check check-all check-layers lint valgrind coverage fuzz bench picture demo stage install uninstall dist deb clean always
.DELETE_ON_ERROR:
-include $(objects:.o=.d) $(tests:.o=.d) $(entries:.o=.d) $(benches:.o=.d)
