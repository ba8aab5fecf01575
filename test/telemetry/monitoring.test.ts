// The alert rules and the board that come with the package (docs/monitoring) against what `/metrics` exports: a metric or a label that is
// renamed is renamed there too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { everyMetric } from "./every-metric.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");

const rule = z.strictObject({
  alert: z.string().regex(/^Patchbay[A-Za-z]+$/u),
  expr: z.string(),
  for: z.string().regex(/^\d+[smh]$/u),
  labels: z.strictObject({ severity: z.enum(["critical", "warning"]) }),
  annotations: z.strictObject({
    summary: z.string().min(10).regex(/\.$/u),
    description: z.string().min(10).regex(/\.$/u),
    runbook: z.string().regex(/^docs\/operations\.md#[a-z]+$/u),
  }),
});
const rules = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })).min(1) })
  .parse(parse(read("docs/monitoring/alerts.yml")))
  .groups.flatMap((group) => group.rules);

const target = z.object({ expr: z.string(), legendFormat: z.string() });
const panel = z.object({
  id: z.int(),
  type: z.enum(["row", "stat", "timeseries", "state-timeline", "table"]),
  title: z.string().min(1),
  gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.array(target).default([]),
});
const board = z
  .object({
    uid: z.string(),
    title: z.string(),
    schemaVersion: z.literal(42),
    templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string(), query: z.unknown() })) }),
    panels: z.array(panel),
  })
  .parse(JSON.parse(read("docs/monitoring/board.json")));

/** Prometheus's own, and what it adds to each series as it scrapes it. */
const OF_PROMETHEUS = new Map([["up", new Set<string>()]]);
const ADDED: ReadonlySet<string> = new Set(["job", "instance"]);
const FUNCTIONS: ReadonlySet<string> = new Set(["sum", "max", "rate", "increase", "histogram_quantile"]);
const KEYWORDS: ReadonlySet<string> = new Set(["and", "bool", "or", "unless"]);

interface Names {
  readonly metrics: ReadonlySet<string>;
  /** Of each metric those in its braces; of `by` and `on`, by all metrics. */
  readonly labels: readonly (readonly [metric: string | null, label: string])[];
}

/** The names in a query. What it does not know it refuses, so that nothing is skipped. */
function namesIn(query: string): Names {
  const metrics = new Set<string>();
  const labels: (readonly [string | null, string])[] = [];
  const rest = query
    .replaceAll(/\[(?:\$__rate_interval|\d+[smh])\]|\boffset \d+[smh]\b/gu, " ")
    .replaceAll(/([a-z_]+)\{([^}]*)\}/gu, (_all, metric: string, matchers: string) => {
      metrics.add(metric);
      for (const matcher of matchers.split(/,\s*/u)) {
        const [, label = ""] = /^([a-z_]+)(?:=|!=|=~|!~)"[^"]*"$/u.exec(matcher) ?? [];
        assert.notEqual(label, "", `${matcher} in ${query}`);
        labels.push([metric, label]);
      }
      return " ";
    })
    .replaceAll(/\b(?:by|on) \(([a-z_, ]+)\)/gu, (_all, list: string) => {
      for (const label of list.split(/,\s*/u)) labels.push([null, label]);
      return " ";
    });
  for (const [word] of rest.matchAll(/[A-Za-z_$]\w*/gu)) {
    if (FUNCTIONS.has(word)) assert.match(rest, new RegExp(`\\b${word}\\s*\\(`, "u"), query);
    else if (!KEYWORDS.has(word)) metrics.add(word);
  }
  assert.match(rest, /^[\w\s().,/<>=]*$/u, query);
  return { metrics, labels };
}

const exported = new Map([...(await everyMetric()), ...OF_PROMETHEUS]);

function judge(query: string, more: readonly string[] = []): void {
  const { metrics, labels } = namesIn(query);
  assert.ok(metrics.size > 0, query);
  for (const metric of metrics) assert.ok(exported.has(metric), `there is no metric ${metric}: ${query}`);
  const has = (metric: string, label: string) => ADDED.has(label) || exported.get(metric)?.has(label) === true;
  for (const [metric, label] of [...labels, ...more.map((label) => [null, label] as const)])
    for (const each of metric === null ? metrics : [metric])
      assert.ok(has(each, label), `${each} has no label ${label}: ${query}`);
}

test("metrics.exported-only: every alert uses exported metrics and labels", () => {
  assert.ok(rules.length >= 10);
  for (const { expr, annotations } of rules) {
    const used = [...annotations.summary.matchAll(/\$labels\.([a-z_]+)/gu)].map(([, label = ""]) => label);
    judge(expr, used);
    assert.doesNotMatch(
      annotations.summary.replaceAll(/\{\{ \$(?:labels\.\w+|value(?: \| humanize\w+)?) \}\}/gu, ""),
      /[{}$]/u,
    );
  }
});

test("metrics.alerts: each alert has its own name and a runbook under that name in docs/operations.md", () => {
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  const headings = [...read("docs/operations.md").matchAll(/^### (Patchbay\w+)$/gmu)].map(([, name]) => name);
  assert.deepEqual(
    headings,
    rules.map(({ alert }) => alert),
  );
  for (const { alert, annotations } of rules) assert.equal(annotations.runbook.split("#")[1], alert.toLowerCase());
});

test("metrics.exported-only: every query and every legend of the dashboard uses exported metrics and labels", () => {
  const targets = board.panels.flatMap((each) => each.targets);
  assert.ok(targets.length >= 20);
  for (const { expr, legendFormat } of targets)
    judge(
      expr,
      [...legendFormat.matchAll(/\{\{([a-z_]+)\}\}/gu)].map(([, label = ""]) => label),
    );
});

test("metrics.exported-only: the dashboard's variables use an exported metric, and panels neither share an id nor overlap", () => {
  const [, metric = "", label = ""] =
    /label_values\((\w+), (\w+)\)/u.exec(JSON.stringify(board.templating.list.find(({ name }) => name === "job"))) ??
    [];
  judge(`${metric}{${label}="x"}`);
  assert.equal(new Set(board.panels.map(({ id }) => id)).size, board.panels.length);
  const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  assert.ok(board.panels.every(({ gridPos: { x, w } }) => x + w <= 24));
});

test("metrics.exported-only: a metric or a label that is not exported is found", () => {
  for (const wrong of ["sum(rate(svc_nothing_total[5m]))", 'svc_jobs{colour="red"}', "max by (colour) (svc_jobs)"])
    assert.throws(() => judge(wrong), /nothing|colour/u, wrong);
});
