// The generated table of all models (docs/providers.md) against the catalogue and the researched feature matrix.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { CHAT_MODELS } from "../../src/providers/catalog.ts";
import { providers } from "../../src/providers/registry.ts";
import { ROWS } from "./matrix-rows.ts";

const page = await readFile(new URL("../../docs/providers.md", import.meta.url), "utf8");
const [, section = ""] = page.split("## Life of all models");
const table = (section.split("\n### ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| model "))
  .map((line) =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim()),
  );

const SPEECH = [...providers.values()]
  .filter(({ kind }) => kind !== "sandbox")
  .flatMap(({ kind, models }) =>
    Object.entries(models).map(([name, { life }]) => ({ path: `${kind}/${name}`, name, life })),
  );
const NOT_OFFERED = [...providers.values()].flatMap(({ kind, notOffered = {} }) =>
  Object.entries(notOffered).map(([name, model]) => ({ path: `${kind}/${name}`, name, ...model })),
);
const CHAT = Object.entries(CHAT_MODELS).flatMap(([kind, models]) =>
  Object.entries(models).map(([name, { life }]) => ({ path: `${kind}/${name}`, name, life })),
);

/** Speech models that the matrix of 2026-11-20 does not have. */
/** Besides models on this machine, which no provider serves. */
const NOT_IN_THE_MATRIX: Readonly<Record<string, string>> = {
  "assemblyai/universal-3-6-pro": "live audio, which the matrix has no rows for",
  "assemblyai/universal-streaming-english": "as above",
  "assemblyai/universal-streaming-multilingual": "as above",
  "assemblyai/u3-rt-pro": "as above",
  "openai/gpt-live-transcribe": "as above",
  "openai/gpt-realtime-whisper": "as above",
  "elevenlabs/scribe_v2_realtime": "as above",
  "elevenlabs/scribe_v2_realtime_turbo": "as above",
  "elevenlabs/scribe_v2_realtime_lite": "as above",
  "elevenlabs/scribe_v1": "it had ended before the matrix was made",
};

test("providers.model-table: the table has every model of the catalogue once, and no other", () => {
  const listed = table.map(([path = ""]) => path);
  assert.deepEqual(
    listed.toSorted(),
    [...new Set([...SPEECH, ...CHAT, ...NOT_OFFERED].map(({ path }) => path))].toSorted(),
  );
});

test("providers.model-table: each row has the catalogue's days, evidence and successors, and a source", () => {
  const rows = new Map(table.map(([path = "", ...cells]) => [path, cells]));
  for (const { path, life } of [...SPEECH, ...CHAT]) {
    const [work, status, verified, deprecated, ends, successors, unverified, source] = rows.get(path) ?? [];
    assert.ok(life !== undefined, path);
    assert.match(work ?? "", /^(audio|chat|audio, chat)$/u, path);
    assert.match(status ?? "", /^(current|deprecated|ending|retired)$/u, path);
    assert.deepEqual([verified, deprecated], [life.verifiedOn, life.deprecatedOn ?? ""], path);
    const { endsOn: end, redirect } = life;
    assert.equal(status === "ending" || status === "retired", end !== undefined, path);
    for (const each of [end, redirect]) {
      if (each === undefined) continue;
      assert.ok(ends?.includes(each.date), path);
      assert.equal(ends?.includes("second-hand"), each.evidence === "second_hand", path);
    }
    assert.equal(ends === "", end === undefined && redirect === undefined, path);
    for (const { model, lacks } of life.replacedBy ?? [])
      for (const part of [model, ...lacks]) assert.ok(successors?.includes(part), `${path}: ${part}`);
    assert.ok((source ?? "").length > 10, path);
    assert.equal(
      unverified !== "",
      /\([^()]*\bunverified\b/u.test(`${life.source} ${end?.source ?? ""} ${redirect?.source ?? ""}`),
      path,
    );
    assert.doesNotMatch(source ?? "", /unverified/u, `${path}: marked in its own column`);
  }
});

test("providers.model-table: every speech model has its features on the page and a row in the matrix, or an argument why not", () => {
  const sections = new Set([...page.matchAll(/^## (\S+\/\S+)$/gmu)].map(([, path]) => path));
  const held = new Set(ROWS.map(([, name]) => name));
  for (const { path, name } of SPEECH) {
    assert.ok(sections.has(path), `${path} has no section`);
    const isVendors = !path.startsWith("local/");
    assert.equal(held.has(name), isVendors && NOT_IN_THE_MATRIX[path] === undefined, path);
  }
});

test("providers.not-offered, providers.model-table: a model that is not offered says so in the table and in the list above it, with its day, reason and source", () => {
  const rows = new Map(table.map(([path = "", ...cells]) => [path, cells]));
  for (const { path, life, notOffered } of NOT_OFFERED) {
    const [, status, verified, , , , , source] = rows.get(path) ?? [];
    assert.equal(status, `current, not offered here since ${notOffered?.since}`, path);
    assert.equal(verified, life.verifiedOn, path);
    assert.ok((source ?? "").length > 10, path);
    const line = page.split("\n").find((each) => each.startsWith(`- **${path}**`));
    for (const part of [notOffered?.since, notOffered?.reason, life.verifiedOn, life.source])
      assert.ok(part !== undefined && line?.includes(part), `${path}: ${part}`);
  }
});
