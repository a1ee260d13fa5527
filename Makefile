.PHONY: run test demo cluster bench fuzz deb lint format clean

# Build and serve on http://127.0.0.1:8080 for development.
run:
	@scripts/run

# Install the tools of the tests and run all tests.
test:
	@scripts/test

# Run the demo on a temporary server; ARGS=--cluster demonstrates failures of PostgreSQL, Redis and three servers.
demo:
	@scripts/demo $(ARGS)

# Start PostgreSQL, Redis, three servers and HAProxy on the loopback; Ctrl-C stops them. ARGS=--check tests the loss of a server.
cluster:
	@scripts/cluster $(ARGS)

# Run the benchmarks in release mode; FILTER=… selects benchmarks by name.
bench:
	@scripts/bench "$(FILTER)"

# Fuzz the parsers of untrusted bytes; ARGS="bodies --minutes 15" chooses target and time.
fuzz:
	@scripts/fuzz $(ARGS)

# Build a Debian package of the command.
deb:
	@scripts/deb

# Check the format of the code, the examples in the documentation, and more; see scripts/lint.
lint:
	@scripts/lint

# Format the code.
format:
	@bash -c 'source scripts/common.sh; cd "$$root"; swift format --in-place --parallel --recursive "$${swift_code[@]}"'

# Remove the build folders; the data folder stays.
clean:
	@rm -rf .build */.build Package.resolved */Package.resolved
