// The part of the composition root that watches: what is counted, and where the figures that nobody counts are looked up.
import { packageVersion } from "./cli/package-root.ts";
import type { Directory } from "./directory/snapshot.ts";
import type { Sample } from "./lib/metric-registry.ts";
import type { CircuitStates } from "./providers/health.ts";
import type { Database } from "./storage/database.ts";
import { jobsByState } from "./storage/jobs.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";

export interface OpenTelemetryOptions {
  readonly database: Database;
  readonly circuits: CircuitStates;
  readonly directory: () => Directory;
}

export function openMetrics({ database, circuits, directory }: OpenTelemetryOptions): Metrics {
  return createMetrics({
    version: packageVersion(),
    jobsByState: () => jobsByState(database.db),
    circuits: () => circuitSamples(circuits, directory()),
  });
}

/** By provider and model, over the accounts that have been called. */
function circuitSamples(circuits: CircuitStates, directory: Directory): readonly Sample[] {
  const resting = new Map<string, { readonly labels: readonly string[]; value: number }>();
  for (const { key, isHealthy } of circuits.states()) {
    // `<scope>/<connection>/<model>`; only a model has slashes of its own.
    const [scope = "", connection = "", ...rest] = key.split("/");
    const kind = directory.account(`${scope}/${connection}`)?.kind;
    if (kind === undefined) continue;
    const model = rest.join("/");
    const sample = resting.get(`${kind}/${model}`) ?? { labels: [kind, model], value: 0 };
    if (!isHealthy) sample.value = 1;
    resting.set(`${kind}/${model}`, sample);
  }
  return [...resting.values()];
}
