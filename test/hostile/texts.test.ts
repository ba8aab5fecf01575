// Hostile texts outside of HTTP: the configuration file, what the command line prints, lines of the log.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { stripControlCharacters } from "../../src/cli/terminal.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { createLogger } from "../../src/lib/logger.ts";

let directory = "";
before(() => {
  directory = mkdtempSync(join(tmpdir(), "patchbay-hostile-"));
});
after(() => rmSync(directory, { recursive: true }));

function faultsOf(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const file = join(directory, "patchbay.yaml");
  writeFileSync(file, text);
  const loaded = loadConfiguration({ file, env, cwd: directory });
  return loaded.ok ? [] : loaded.faults.map(({ path, message }) => `${path}: ${message}`);
}

const refuses = (text: string, reason: RegExp, env?: Readonly<Record<string, string>>): void => {
  const faults = faultsOf(text, env);
  assert.ok(
    faults.some((fault) => reason.test(fault)),
    `${text.slice(0, 100)}: ${JSON.stringify(faults)}`,
  );
};

test("configuration.plain-yaml: HOS-311, aliases that expand exponentially (billion laughs) are refused", () => {
  const levels = Array.from({ length: 12 }, (_, at) =>
    at === 0 ? "a0: &a0 [ha]" : `a${at}: &a${at} [${`*a${at - 1},`.repeat(10)}]`,
  );
  refuses(levels.join("\n"), /more than 100 aliases/u);
});

test("configuration.plain-yaml: HOS-312, aliases that contain themselves, tags that make objects, a second document, `__proto__`", () => {
  refuses("routes: &r\n  - id: x\n    targets: *r\n", /inside the value that it names/u);
  refuses("server: !!js/function 'x'\n", /tags are not supported/u);
  refuses("server: !<tag:evil.example,2000:x> {}\n", /tags are not supported/u);
  refuses("server: {}\n---\nserver: {}\n", /more than one document/u);
  refuses("server: { __proto__: { port: 1 } }\n", /__proto__/u);
  assert.equal(Reflect.get({}, "port"), undefined);
});

test("configuration.plain-yaml: HOS-313, merge keys are not merged", () => {
  refuses("server: &s { port: 8080 }\nstorage:\n  <<: *s\n", /storage/u);
});

test("configuration.interpolation-once: HOS-314, the value of a variable or a file is not read again: no variable names another", () => {
  const env = { OUTER: "${env:INNER}", INNER: "192.0.2.1" };
  refuses("server: { port: '${env:OUTER}' }\n", /server\.port|server,port/u, env);
  assert.ok(!JSON.stringify(faultsOf("server: { port: '${env:OUTER}' }\n", env)).includes("192.0.2.1"));
  refuses("server: { host: '${env:${env:INNER}}' }\n", /expected|closed/u, env);
});

test("configuration.file-value: HOS-315, a file that never ends is not read: a device, a pipe, a directory", () => {
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const path of ["/dev/zero", "/dev/stdin", pipe, "."]) {
    refuses(`storage: { database_url: "\${file:${path}}" }\n`, /not a regular file/u);
  }
});

test("configuration.faults-hide-values: HOS-316, a fault contains nothing of the file that a value names", () => {
  writeFileSync(join(directory, "secret"), "canary-of-a-secret");
  const faults = faultsOf('server: { port: "${file:secret}" }\n');
  assert.equal(faults.length, 1);
  assert.ok(!faults.join("").includes("canary"));
});

test("configuration.credential-text: HOS-317, a credential with a line end, from a file with two lines or a variable, is refused at the start", () => {
  writeFileSync(join(directory, "key"), "first\nsecond\n");
  for (const source of ["${file:key}", "${env:KEY}"]) {
    refuses(`connections: [{ id: oa, kind: openai, api_key: "${source}" }]\n`, /plain ASCII in one line/u, {
      KEY: "a\r\nX-Evil: 1",
    });
  }
});

test("cli.terminal: HOS-321, a transcript cannot control the terminal: colours, titles, links, the clipboard, 8-bit forms", () => {
  for (const sequence of [
    "\u001b[2J\u001b[1;1H",
    "\u001b]0;title\u0007",
    "\u001b]8;;https://evil.example\u0007",
    "\u001b]52;c;cm0gLXJm\u0007",
    "\u009b31m",
    "\u009d0;title\u009c",
    "\u0090q\u009c",
    "\b\b\b",
    "\u007f",
    "\u000e",
  ]) {
    // oxlint-disable-next-line no-control-regex -- what must not be left
    assert.doesNotMatch(stripControlCharacters(`a${sequence}b`), /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/u);
  }
});

test("cli.terminal: HOS-322, a message can neither overwrite its line nor change the direction of the text around it", () => {
  assert.equal(stripControlCharacters("request req_1\rrequest req_2"), "request req_1request req_2");
  assert.equal(stripControlCharacters("one\r\ntwo\tthree"), "one\r\ntwo\tthree");
  assert.equal(stripControlCharacters("\u202eexe.wav\u2066x\u2069\u202c"), "exe.wavx");
  assert.equal(stripControlCharacters("שלום\u200f, عالم"), "שלום\u200f, عالم");
});

test("logs.one-line: HOS-323, a line of the log is one line, whatever it contains", () => {
  const lines: string[] = [];
  const logger = createLogger({ write: (line: string) => lines.push(line) });
  logger.warn({ reason: 'a\n{"level":60,"code":"FORGED"}\r\n\u2028b', model: "m\0\u001b[31m" });
  logger.error({ err: new Error('x\n    at forged (file:///etc/passwd:1:1)\n{"level":60}') });
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.equal(line.indexOf("\n"), line.length - 1);
    // oxlint-disable-next-line no-control-regex -- what must not be left
    assert.doesNotMatch(line.slice(0, -1), /[\u0000-\u001f]/u);
    assert.doesNotThrow(() => JSON.parse(line));
  }
});
