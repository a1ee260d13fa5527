.PHONY: run test demo cluster bench fuzz deb lint format clean

# Build and serve on http://127.0.0.1:8080 for development.
run:
	@scripts/run

# Install what the tests need and run all of them.
test:
	@scripts/test

# Walk through the whole story on a server of its own; ARGS=--cluster walks through failures of PostgreSQL, Redis and three servers.
demo:
	@scripts/demo $(ARGS)

# Start PostgreSQL, Redis, three servers and HAProxy on the loopback; Ctrl-C stops them. ARGS=--check tests that they survive the loss of a server.
cluster:
	@scripts/cluster $(ARGS)

# Measure the libraries in release mode; FILTER=… picks benchmarks by name.
bench:
	@scripts/bench $(FILTER)

# Search for inputs that break the readers of untrusted bytes; ARGS="bodies --minutes 15" chooses target and time.
fuzz:
	@scripts/fuzz $(ARGS)

# Build a Debian package of the command.
deb:
	@scripts/deb

# Check the form of the code.
lint:
	@scripts/lint

# Put the code into form.
format:
	@bash -c 'source scripts/common.sh; cd "$$root"; swift format --in-place --parallel --recursive "$${swift_code[@]}"'

# Remove what builds have made; the data folder stays.
clean:
	@rm -rf .build */.build Package.resolved */Package.resolved
