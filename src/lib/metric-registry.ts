// Prometheus metrics of prom-client, with a limit on the series of each metric. Series beyond the limit are counted as one, so that callers cannot make
// the process grow [metrics.bounded-series].
import { Counter as PromCounter, Gauge, Histogram as PromHistogram, Registry } from "prom-client";

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

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

const MAX_SERIES = 1_000;
const REST = "other";
/** Separates label values, which contain no control characters. */
const BETWEEN = "\u0000";

export function createMetricRegistry(): MetricRegistry {
  const registry = new Registry();
  const registers = [registry];
  return {
    counter(name, help, labelNames = []) {
      const metric = new PromCounter({ name, help, labelNames, registers });
      const labelsOf = boundSeries(labelNames);
      return {
        add: (values, amount = 1) => {
          // prom-client throws on other amounts, but a metric must not fail the request that it counts.
          if (Number.isFinite(amount) && amount >= 0) metric.inc(labelsOf(values), amount);
        },
      };
    },
    histogram(name, help, labelNames, bounds) {
      const metric = new PromHistogram({ name, help, labelNames, registers, buckets: [...bounds] });
      const labelsOf = boundSeries(labelNames);
      return {
        observe: (values, value) => {
          if (Number.isFinite(value)) metric.observe(labelsOf(values), value);
        },
      };
    },
    gauge(name, help, labelNames, read) {
      const collect = async (): Promise<void> => {
        const samples = await read();
        metric.reset();
        for (const { labels, value } of samples.slice(0, MAX_SERIES)) metric.set(named(labelNames, labels), value);
      };
      const metric = new Gauge({ name, help, labelNames, registers, collect });
    },
    text: async () => {
      const metrics = registry.getMetricsAsArray();
      const texts = await Promise.all(
        metrics.map(({ name }) => registry.getSingleMetricAsString(name).then(withLineEnd, () => "")),
      );
      return texts.join("");
    },
  };
}

type Labels = Readonly<Record<string, string>>;

/** Names label values. The values of series beyond the limit are replaced. */
function boundSeries(names: readonly string[]): (values: readonly string[]) => Labels {
  const series = new Map<string, Labels>();
  const rest = named(names, Array(names.length).fill(REST));
  return (values) => {
    const key = values.join(BETWEEN);
    const known = series.get(key);
    if (known !== undefined) return known;
    if (series.size >= MAX_SERIES - 1) return rest;
    const labels = named(names, values);
    series.set(key, labels);
    return labels;
  };
}

function named(names: readonly string[], values: readonly string[]): Labels {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}

function withLineEnd(text: string): string {
  return `${text}\n`;
}
