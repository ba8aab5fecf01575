// `/metrics` read as Prometheus would.
import assert from "node:assert/strict";

export interface Scrape {
  readonly text: string;
  readonly names: ReadonlySet<string>;
  /** Of the one series with these labels, written as they are exported; 0 when there is none. */
  readonly value: (series: string) => number;
}

const LINE = /^([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/u;

export async function scrape(adminOrigin: string): Promise<Scrape> {
  const response = await fetch(`${adminOrigin}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/u);
  const text = await response.text();
  const series = new Map<string, number>();
  const names = new Set<string>();
  for (const line of text.trimEnd().split("\n")) {
    if (line.startsWith("# HELP ")) continue;
    if (line.startsWith("# TYPE ")) {
      names.add(line.split(" ")[2] ?? "");
      continue;
    }
    const parsed = LINE.exec(line.replace(/ \d+e-\d+$/u, " 0"));
    assert.ok(parsed !== null, line);
    const name = `${parsed[1]}${parsed[2] ?? ""}`;
    assert.ok(!series.has(name), `${name} is there twice`);
    series.set(name, Number(line.slice(line.lastIndexOf(" ") + 1)));
  }
  return { text, names, value: (wanted) => series.get(wanted) ?? 0 };
}
