// The container files [cli.container], checked as text against this repository. `scripts/try-image.ts` builds and runs them.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { defaultFile, NO_LOCAL_SPEECH } from "../../src/config/default-configuration.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** Stage by stage, continuation lines joined, without comments. */
function stages(): readonly (readonly Instruction[])[] {
  const lines = read("Dockerfile")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/gu, " ")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const found: Instruction[][] = [];
  for (const line of lines) {
    const [, word = "", rest = ""] = /^([A-Z]+) (.*)$/u.exec(line) ?? [];
    assert.notEqual(word, "", line);
    // Arguments before the first stage belong to all.
    if (word === "FROM" || found.length === 0) found.push([]);
    found.at(-1)?.push({ word, rest });
  }
  return found;
}

test("cli.container: the stages start from tagged slim images of one Debian release, one with a Node.js that the package accepts", () => {
  const { engines } = z.object({ engines: z.object({ node: z.string() }) }).parse(JSON.parse(read("package.json")));
  const needed = Number(/\d+/u.exec(engines.node)?.[0]);
  const bases = stages()
    .flat()
    .filter(({ word, rest }) => word === "ARG" && rest.includes("_IMAGE="));
  const images = new Map(bases.map(({ rest }) => rest.split("=") as [string, string]));
  const [, release = ""] = /^debian:(\w+)-slim$/u.exec(images.get("BASE_IMAGE") ?? "") ?? [];
  assert.notEqual(release, "");
  assert.equal(images.get("NODE_IMAGE"), `node:${needed}-${release}-slim`);
  const starts = stages().flatMap(([from]) => (from?.word === "FROM" ? [from.rest] : []));
  assert.deepEqual(starts, ["${NODE_IMAGE} AS build", "${BASE_IMAGE} AS ffmpeg", "${BASE_IMAGE}"]);
});

test("cli.container: the image names the version and the licence of the package", () => {
  const { version, license } = z
    .object({ version: z.string(), license: z.string() })
    .parse(JSON.parse(read("package.json")));
  const label =
    stages()
      .at(-1)
      ?.find(({ word }) => word === "LABEL")?.rest ?? "";
  assert.ok(label.includes(`org.opencontainers.image.version="${version}"`), label);
  assert.ok(label.includes(`org.opencontainers.image.licenses="${license}"`), label);
});

test("cli.container: the image runs as an unprivileged user, writes to one volume, contains no secret, and has a health check", () => {
  const final = stages().at(-1) ?? [];
  const at = (word: string) => final.findIndex((each) => each.word === word);
  const user = final[at("USER")]?.rest;
  assert.ok(user !== undefined && user !== "root" && user !== "0");
  assert.ok(at("USER") < at("ENTRYPOINT"));
  assert.equal(final.filter(({ word }) => word === "USER").length, 1);
  assert.deepEqual(JSON.parse(final[at("VOLUME")]?.rest ?? ""), ["/data"]);
  assert.match(final[at("HEALTHCHECK")]?.rest ?? "", /127\.0\.0\.1:8080\/readyz/u);
  assert.equal(final[at("STOPSIGNAL")]?.rest, "SIGTERM");
  for (const { word, rest } of stages().flat()) {
    assert.notEqual(word, "ADD");
    if (word === "ENV" || word === "ARG") assert.doesNotMatch(rest, /KEY|PEPPER|SECRET|TOKEN|PASSWORD/u);
  }
});

test("cli.container: it starts what the package starts, with the launcher's flags, as one process that gets signals", () => {
  const final = stages().at(-1) ?? [];
  const entry = z.array(z.string()).parse(JSON.parse(final.find(({ word }) => word === "ENTRYPOINT")?.rest ?? ""));
  const { scripts } = z.object({ scripts: z.object({ start: z.string() }) }).parse(JSON.parse(read("package.json")));
  const flags = scripts.start.split(" ").filter((word) => word.startsWith("--"));
  assert.deepEqual(entry, ["node", ...flags, "/app/dist/src/main.js"]);
  const [, launchers = ""] = /^const FLAGS = \[([^\]]*)\];/mu.exec(read("bin/patchbay.js")) ?? [];
  assert.deepEqual(
    [...launchers.matchAll(/"([^"]*)"/gu)].map(([, flag]) => flag),
    flags,
  );
  const command = z.array(z.string()).parse(JSON.parse(final.find(({ word }) => word === "CMD")?.rest ?? ""));
  assert.equal(command[0], "up");
});

test("cli.container: whatever is copied exists, and gets past .dockerignore, which lets nothing else in", () => {
  const [first, ...lines] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  assert.equal(first, "*");
  const open = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  for (const closed of lines.filter((line) => !line.startsWith("!")))
    assert.ok(existsSync(join(ROOT, closed)) && open.some((each) => closed.startsWith(`${each}/`)), closed);
  for (const path of open) assert.ok(existsSync(join(ROOT, path)), path);
  for (const { word, rest } of stages().flat()) {
    if (word !== "COPY" || rest.startsWith("--from")) continue;
    for (const path of rest.split(" ").slice(0, -1)) {
      assert.ok(existsSync(join(ROOT, path)), path);
      assert.ok(
        open.some((each) => path === each || path.replace(/^\.\//u, "").startsWith(`${each}/`) || path === `./${each}`),
        path,
      );
    }
  }
});

const service = z.looseObject({
  environment: z.record(z.string(), z.string()),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
});
const composeFile = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

test("cli.container: the compose file names volumes and services that exist, publishes on loopback, and refuses to start without secrets", () => {
  const compose = composeFile.parse(parse(read("compose.yaml")));
  const { gateway, database } = compose.services;
  assert.ok(gateway !== undefined && database !== undefined);
  for (const { ports, volumes } of Object.values(compose.services)) {
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/u);
    for (const volume of volumes) {
      const [source = "", , mode] = volume.split(":");
      if (source.startsWith("./")) assert.ok(existsSync(join(ROOT, source)) && mode === "ro", volume);
      else assert.ok(Object.hasOwn(compose.volumes, source), volume);
    }
  }
  assert.deepEqual(gateway.depends_on, { database: { condition: "service_healthy" } });
  assert.equal(gateway["read_only"], true);
  assert.deepEqual(gateway["cap_drop"], ["ALL"]);
  for (const name of ["DATABASE_URL", "PATCHBAY_MIGRATE_URL", "PATCHBAY_KEY_PEPPER", "PATCHBAY_ENCRYPTION_KEY"])
    assert.match(gateway.environment[name] ?? "", /\$\{\w+:\?/u, name);
  const asked = new Set<string>();
  defaultFile(new Proxy({}, { get: (_, name) => (asked.add(String(name)), undefined) }), NO_LOCAL_SPEECH);
  for (const name of Object.keys(gateway.environment)) assert.ok(asked.has(name), `${name} is never read`);
});
