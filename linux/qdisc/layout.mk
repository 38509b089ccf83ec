# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# layout.mk: copies the core into BUILD/aqm, for the module and for tc's plugin. AQM and OVER
# are explained in the Makefile beside this file.

CORE := $(abspath $(dir $(abspath $(lastword $(MAKEFILE_LIST))))../../aqm)
AQM ?=
OVER ?=

.PHONY: core
core:
	mkdir -p $(BUILD)/aqm
	find $(BUILD)/aqm -name '*.[ch]' -delete
	cd $(CORE) && cp -p --parents all.sh $$(find * -name '*.[ch]' ! -path 'check/*' ! -path 'test/*') $(abspath $(BUILD))/aqm
	$(if $(AQM),cp -p $(AQM) $(BUILD)/aqm/algorithms)
	for over in $(OVER); do cp -pr $$over/. $(BUILD)/aqm || exit; done
	cd $(BUILD)/aqm && { sh all.sh --check 2>/dev/null || sh all.sh; }
