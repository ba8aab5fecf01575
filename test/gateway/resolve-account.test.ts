// Where a target's call goes when its connection names no address.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Account } from "../../src/directory/snapshot.ts";
import { type ResolvedAccount, resolveAccount } from "../../src/gateway/calls/resolve-account.ts";
import { chatProviders, providers } from "../../src/providers/registry.ts";
import type { ProviderKind } from "../../src/providers/provider.ts";

const placeOf = (kind: ProviderKind, testMode: boolean): string => resolved({ kind }, testMode).baseUrl;

function resolved(given: Pick<Account, "kind"> & Partial<Account>, testMode: boolean): ResolvedAccount {
  const account: Account = {
    key: "platform/c",
    connection: "c",
    baseUrl: null,
    isCallersAddress: false,
    credential: "k",
    timeoutMs: 1_000,
    models: {},
    ...given,
  };
  const directory = (): never => ({ account: () => account }) as never;
  const services = { providers, chatProviders, directory, sandboxUrl: (asked: string) => `sandbox:${asked}` };
  return resolveAccount(services, { account: account.key, provider: account.kind, settings: {} }, testMode);
}

for (const [kind, url] of [
  ["openai", "https://api.openai.com/v1"],
  ["anthropic", "https://api.anthropic.com"],
  ["gemini", "https://generativelanguage.googleapis.com"],
  ["deepgram", "https://api.deepgram.com"],
] as const) {
  test(`providers.base-url, providers.test-key-address: a connection of kind ${kind} without base_url goes to ${url}, with a test key to the sandbox`, () => {
    assert.equal(placeOf(kind, false), url);
    assert.equal(placeOf(kind, true), `sandbox:${kind}`);
  });
}

test("local.process, local.jobs-wait, providers.test-key-address: a model on this machine is at no address and has the time of its request or job", () => {
  const here = { kind: "local", baseUrl: "https://elsewhere.example.com", credential: null } as const;
  assert.equal(resolved(here, false).baseUrl, "local:engine");
  assert.equal(resolved(here, false).timeoutMs, Number.POSITIVE_INFINITY);
  assert.equal(resolved(here, true).baseUrl, "sandbox:local");
});

test("providers.sandbox-protocols: a sandbox at an address of its own is sent the credential that it requires, although none was configured", () => {
  const far = { kind: "sandbox", baseUrl: "http://127.0.0.1:9090", credential: null } as const;
  assert.deepEqual([resolved(far, false).baseUrl, resolved(far, false).credential], [far.baseUrl, "sandbox"]);
  assert.equal(resolved({ ...far, credential: "mine" }, false).credential, "mine");
  assert.equal(resolved({ ...far, kind: "openai-compatible" }, false).credential, null);
});
