// Counters, gauges and histograms in the Prometheus text format. Each metric has fixed labels and a limit on its series. Series beyond the limit are
// counted as one, so that callers cannot make the process grow.

export interface Counter {
  add(labels: readonly string[], amount?: number): void;
}

export interface Histogram {
  observe(labels: readonly string[], value: number): void;
}

export interface Sample {
  readonly labels: readonly string[];
  readonly value: number;
}

export interface MetricRegistry {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Histogram;
  /** Read at each scrape. A metric is skipped if its reader throws. */
  gauge(name: string, help: string, labels: readonly string[], read: () => Promise<readonly Sample[]>): void;
  text(): Promise<string>;
}

const MAX_SERIES = 1_000;
const REST = "other";
/** Separates label values, which contain no control characters. */
const BETWEEN = "\u0000";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function createMetricRegistry(): MetricRegistry {
  const metrics: (() => Promise<readonly string[]>)[] = [];
  return {
    counter(name, help, labels = []) {
      const series = createSeries(labels, () => ({ value: 0 }));
      metrics.push(async () => [
        ...head(name, help, "counter"),
        ...series.all().map(([pairs, { value }]) => line(name, pairs, value)),
      ]);
      return {
        add: (values, amount = 1) => {
          series.of(values).value += amount;
        },
      };
    },
    histogram(name, help, labels, bounds) {
      const series = createSeries(labels, () => ({ counts: new Float64Array(bounds.length + 1), sum: 0 }));
      metrics.push(async () => [
        ...head(name, help, "histogram"),
        ...series.all().flatMap(([pairs, { counts, sum }]) => histogramLines(name, pairs, bounds, counts, sum)),
      ]);
      return {
        observe: (values, value) => {
          const found = series.of(values);
          let index = 0;
          while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1;
          found.counts[index] = (found.counts[index] ?? 0) + 1;
          found.sum += value;
        },
      };
    },
    gauge(name, help, labels, read) {
      metrics.push(async () => {
        const samples = await read().catch(() => null);
        if (samples === null) return [];
        return [
          ...head(name, help, "gauge"),
          ...samples.slice(0, MAX_SERIES).map((sample) => line(name, pairsOf(labels, sample.labels), sample.value)),
        ];
      });
    },
    text: async () => `${(await Promise.all(metrics.map((metric) => metric()))).flat().join("\n")}\n`,
  };
}

function createSeries<S>(labels: readonly string[], make: () => S) {
  const series = new Map<string, S>();
  const rest = labels.map(() => REST).join(BETWEEN);
  // Most calls use the same labels as the call before.
  let latest: { readonly values: readonly string[]; readonly kept: S } | null = null;
  return {
    of: (values: readonly string[]): S => {
      if (latest === null || !isSame(latest.values, values)) latest = { values, kept: find(values) };
      return latest.kept;
    },
    all: () => [...series].map(([key, value]) => [pairsOf(labels, key.split(BETWEEN)), value] as const),
  };

  function find(values: readonly string[]): S {
    const key = values.length === 1 ? (values[0] ?? "") : values.join(BETWEEN);
    const found = series.get(key);
    if (found !== undefined) return found;
    const kept = series.size < MAX_SERIES - 1 ? key : rest;
    const made = series.get(kept) ?? make();
    series.set(kept, made);
    return made;
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

function histogramLines(
  name: string,
  pairs: string,
  bounds: readonly number[],
  counts: Float64Array,
  sum: number,
): readonly string[] {
  let total = 0;
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
    total += counts[index] ?? 0;
    const le = `le="${bound === Number.POSITIVE_INFINITY ? "+Inf" : bound}"`;
    return line(`${name}_bucket`, pairs === "" ? le : `${pairs},${le}`, total);
  });
  return [...buckets, line(`${name}_sum`, pairs, sum), line(`${name}_count`, pairs, total)];
}

function head(name: string, help: string, type: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function line(name: string, pairs: string, value: number): string {
  return `${name}${pairs === "" ? "" : `{${pairs}}`} ${value}`;
}

function pairsOf(labels: readonly string[], values: readonly string[]): string {
  return labels.map((label, index) => `${label}="${escaped(values[index] ?? "")}"`).join(",");
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
