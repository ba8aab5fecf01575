// The guard against the table of cases/ssrf.json (spec 4.4; contract 6; reliability 4): its URL and DNS rows, through the
// real guard with a resolver of the test's own. The rows that describe a behaviour stand in the files they name below.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { test } from "node:test";
import { type Connect, createGuard, GuardRefusal, type Resolve } from "../../src/outbound/guard.ts";
import { audioUrlPolicy } from "../../src/outbound/target-policy.ts";

interface UrlCase {
  readonly id: string;
  readonly url?: string;
  readonly expect: "allow" | "reject";
  readonly reason: string;
  readonly dns?: Readonly<Record<string, readonly string[]>>;
  readonly config?: {
    readonly allowlist?: readonly string[];
    readonly globalAllowlist?: readonly string[];
    readonly allowedPorts?: readonly number[];
  };
}

const CASES = (JSON.parse(readFileSync("test/cases/ssrf.json", "utf8")) as UrlCase[]).filter(
  (row): row is UrlCase & { readonly url: string } => row.url !== undefined,
);
const LISTED = ["media.allowed.example", "*.cdn.allowed.example"];
const PUBLIC = "1.1.1.1";

/** Writes down what was asked of it, and reaches whatever it is told to. */
function network(answers: (name: string) => readonly string[] = () => [PUBLIC]) {
  const lookups: string[] = [];
  const dialled: Parameters<Connect>[0][] = [];
  const resolve: Resolve = async (name) => {
    lookups.push(name);
    return answers(name);
  };
  const connect: Connect = async (target) => {
    dialled.push(target);
    return { socket: new Socket(), remoteAddress: target.address };
  };
  return { lookups, dialled, resolve, connect };
}

const audio = (domains: readonly string[] = LISTED, allowedPorts: readonly number[] = [443]) =>
  audioUrlPolicy({ domains, allowedPorts });

test(`spec 4.4: ${CASES.length} URL and DNS rows: what must be refused opens no socket, the rest dials one vetted address`, async () => {
  for (const row of CASES) {
    const { config = {}, dns } = row;
    const net = network((name) => (dns === undefined ? [PUBLIC] : (dns[name] ?? [])));
    const guard = createGuard(net);
    const domains = [...(config.allowlist ?? LISTED), ...(config.globalAllowlist ?? [])];
    const outcome = await guard.dial(row.url, audio(domains, config.allowedPorts)).then(
      () => "allow",
      (error: unknown) => (error instanceof GuardRefusal ? "reject" : String(error)),
    );
    const about = `${row.id} ${row.url.slice(0, 80)}: ${row.reason}`;
    assert.equal(outcome, row.expect, about);
    assert.equal(guard.judged(), 1, about);
    assert.equal(net.dialled.length, row.expect === "allow" ? 1 : 0, about);
    assert.ok(net.lookups.length <= 1, about);
  }
});
