.PHONY: run test demo bench fuzz lint format clean

# Build and serve on http://127.0.0.1:8080 for development.
run:
	@scripts/run

# Install what the tests need and run all of them.
test:
	@scripts/test

# Walk through the whole story on a server of its own.
demo:
	@scripts/demo

# Measure the libraries in release mode; FILTER=… picks benchmarks by name.
bench:
	@scripts/bench $(FILTER)

# Search for inputs that break the readers of untrusted bytes; ARGS="bodies --minutes 15" chooses target and time.
fuzz:
	@scripts/fuzz $(ARGS)

# Check the form of the code.
lint:
	@scripts/lint

# Put the code into form.
format:
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Server/Package.swift Server/Sources Server/Tests Server/Examples Benchmarks/Package.swift Benchmarks/Benchmarks Fuzzing/Package.swift Fuzzing/Sources Server/Benchmarks/Package.swift Server/Benchmarks/BrownOut Server/Benchmarks/Client Server/Benchmarks/Middleware

# Remove what builds have made; the data folder stays.
clean:
	@rm -rf .build Server/.build Benchmarks/.build Fuzzing/.build Server/Benchmarks/.build Package.resolved */Package.resolved Server/Benchmarks/Package.resolved
