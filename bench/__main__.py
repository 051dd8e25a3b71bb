"""`python -m bench` runs every measurement, `python -m bench NAME…` those that are named."""

import importlib
import pkgutil
import sys

import bench


def main(wanted: list[str]) -> int:
    known = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_"))
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        print(f"no such measurement: {', '.join(unknown)}; known: {', '.join(known) or 'none yet'}", file=sys.stderr)
        return 2
    for name in wanted or known:
        print(f"== {name}", flush=True)
        importlib.import_module(f"bench.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
