// Tests the container image: builds the Dockerfile on base images made by debootstrap, measures it, starts it read-only without network and capabilities,
// transcribes, kills it during jobs, and starts another container on the same volume. Needs root, buildah, podman, runc, catatonit and debootstrap.
//
// `--directory DIR` keeps the base images and the layers there, which makes the next run shorter.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { BASES, makeBases } from "./image-bases.ts";

const ROOT = join(import.meta.dirname, "..");
const IMAGE = "localhost/patchbay";
/** Docker counts in the same units. */
const MAX_MB = 500;
const JOBS = 30;
/** Jobs that a kill interrupts are seen in the first round, unless all that was started had just ended. */
const MAX_ROUNDS = 5;
/** Of one command. The longest is the build. */
const LIMIT_MS = 30 * 60_000;
/** What the documentation recommends with embedded storage. */
const MEMORY = "1280m";
const SAMPLE_TEXT = /^good morning this is the harbour office /u;

const job = z.looseObject({
  job_id: z.string(),
  status: z.string(),
  attempts: z.int(),
  simulated: z.boolean(),
  result: z.looseObject({ content: z.string() }).nullable(),
});
const history = z.array(z.looseObject({ size: z.number(), CreatedBy: z.string() }));
const inspected = z.tuple([
  z.looseObject({
    Size: z.number(),
    Config: z.looseObject({
      User: z.string(),
      StopSignal: z.string(),
      Labels: z.record(z.string(), z.string()),
      Volumes: z.record(z.string(), z.unknown()),
    }),
  }),
]);

const { directory: kept } = parseArgs({ options: { directory: { type: "string" } } }).values;
const directory = kept ?? mkdtempSync(join(tmpdir(), "patchbay-image-"));
const driver = hasOverlay() ? "overlay" : "vfs";
const startedMs = performance.now();
let containers = 0;

try {
  const release = /^ARG BASE_IMAGE=debian:(\w+)-slim$/mu.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.[1];
  if (release === undefined) throw new Error("the Dockerfile names no Debian release");
  if (buildah("images", "--quiet", "--filter", `reference=${BASES.NODE_IMAGE}`) === "") {
    mkdirSync(directory, { recursive: true });
    makeBases({ release, directory, run, buildah });
    say(`base images of Debian ${release} made, storage driver ${driver}`);
  }
  build();
  say("built");
  measure();
  checkContents();
  decodeFixtures();
  useAndKill();
  console.log("image: built, measured, started read-only, transcribed, killed during jobs, started again, stopped");
} finally {
  if (containers > 0) {
    podman(["rm", "--all", "--force"]);
    podman(["volume", "prune", "--force"]);
  }
  if (kept === undefined) rmSync(directory, { recursive: true, force: true });
}

/** In the format that has a health check. Cached layers would be copies with vfs. */
function build(): void {
  const bases = Object.entries(BASES).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
  const layers = driver === "overlay" ? ["--layers"] : [];
  const format = ["--isolation", "chroot", "--pull-never", "--format", "docker", ...layers, ...bases];
  buildah("build", ...format, "--tag", IMAGE, ROOT);
}

function measure(): void {
  const [{ Size, Config }] = inspected.parse(JSON.parse(podman(["image", "inspect", IMAGE])));
  for (const { size, CreatedBy } of history.parse(JSON.parse(podman(["history", "--format", "json", IMAGE]))))
    if (size > 500_000) console.log(`image: ${megabytes(size).padStart(6)} MB  ${CreatedBy.slice(0, 80)}`);
  console.log(`image: ${megabytes(Size).padStart(6)} MB  together`);
  const parts =
    "du --block-size=1 --summarize /usr/local/bin/* /app/*; du --block-size=1 --max-depth=1 /app/node_modules | sort --numeric-sort";
  for (const line of inImage(parts).trim().split("\n")) {
    const [bytes = "", path = ""] = line.split("\t");
    if (Number(bytes) > 2_500_000) console.log(`image: ${megabytes(Number(bytes)).padStart(6)} MB  ${path}`);
  }
  if (Size > MAX_MB * 1e6) throw new Error(`the image has ${megabytes(Size)} MB; ${MAX_MB} are allowed`);
  const version = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")));
  if (Config.Labels["org.opencontainers.image.version"] !== version.version) throw new Error("label without version");
  if (Config.User !== "node" || Config.StopSignal !== "SIGTERM") throw new Error("wrong user or stop signal");
  if (Object.keys(Config.Volumes).join() !== "/data") throw new Error("not exactly one volume");
}

/** No package manager of Node.js, compiler, source or map, and nothing outside /data that its user may write to. */
function checkContents(): void {
  const tools = inImage("for tool in npm corepack tsc gcc make python3 npx; do command -v $tool; done; true");
  const files = inImage("find /app -name '*.ts' -o -name '*.map' -o -name '*.test.*' -o -name .npmrc | head");
  const exceptions = ["/data", "/tmp", "/var/tmp", "/run/lock"].map((path) => `-not -path ${path}`).join(" ");
  const writable = inImage(`find / -xdev '(' -user node -o -perm -o+w ')' -not -type l ${exceptions} | head`);
  if (tools + files + writable !== "") throw new Error(`in the image:\n${tools}${files}${writable}`);
}

/** Every recording whose true length docs/formats.md lists. */
function decodeFixtures(): void {
  const table = readFileSync(join(ROOT, "docs/formats.md"), "utf8");
  const rows = [...table.matchAll(/^\| (speech|video)(\S+) \| (\w+) \| [^|]+ \| ([\d.]+) \|/gmu)];
  const demuxers: Readonly<Record<string, string>> = { m4a: "mov", mp4: "mov", webm: "matroska" };
  const output = inImage(
    rows
      .map(([, start, end, format = ""]) => {
        const options = `-nostdin -loglevel quiet -f ${demuxers[format] ?? format} -i file:/audio/${start}${end}`;
        return `ffmpeg ${options} -map 0:a:0 -vn -ac 1 -ar 16000 -f s16le pipe:1 | wc --bytes`;
      })
      .join("\n"),
    ["--volume", `${join(ROOT, "test/fixtures/audio")}:/audio:ro`],
  );
  const lengths = output.trim().split("\n").map(Number);
  for (const [index, [, start, end, , seconds]] of rows.entries()) {
    const decoded = (lengths[index] ?? 0) / 2 / 16_000;
    if (!(Math.abs(decoded - Number(seconds)) < 0.1))
      throw new Error(`ffmpeg decodes ${start}${end} to ${decoded} s of ${seconds}`);
  }
  if (rows.length < 20) throw new Error("docs/formats.md has lost its table");
  say(`ffmpeg decodes ${rows.length} recordings of all formats`);
}

function useAndKill(): void {
  let name = start();
  assertText(inside(name, "patchbay", "transcribe", "--sample"));
  podman(["healthcheck", "run", name]);
  say("started read-only, healthy, transcribed");
  const submitted: string[] = [];
  for (let round = 1, interrupted = 0; interrupted === 0; round += 1) {
    if (round > MAX_ROUNDS) throw new Error("no kill interrupted a job");
    submitted.push(
      ...z.array(z.string()).parse(JSON.parse(inside(name, "node", "/client.ts", "submit", String(JOBS)))),
    );
    podman(["kill", "--signal", "KILL", name]);
    podman(["rm", name]);
    name = start();
    const jobs = z.array(job).parse(JSON.parse(inside(name, "node", "/client.ts", "results", submitted.join())));
    for (const { job_id, status, simulated, result } of jobs) {
      if (status !== "succeeded" || simulated) throw new Error(`${job_id} is ${status}, simulated: ${simulated}`);
      assertText(result?.content ?? "");
    }
    interrupted = jobs.filter(({ attempts }) => attempts > 1).length;
    say(`killed during ${interrupted} of ${JOBS} jobs; all ${jobs.length} succeeded in another container`);
  }
  assertText(inside(name, "patchbay", "transcribe", "--sample"));
  podman(["stop", "--time", "60", name]);
  const exitCode = podman(["inspect", "--format", "{{.State.ExitCode}}", name]).trim();
  if (exitCode !== "0") throw new Error(`the stopped container has exit code ${exitCode}`);
}

/** As compose.yaml starts it, and without a network. */
function start(): string {
  const name = `gateway-${(containers += 1)}`;
  const confined = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none"];
  const volumes = ["--volume", "patchbay:/data", "--volume", `${join(ROOT, "scripts/image-client.ts")}:/client.ts:ro`];
  podman([...runOptions(), "--detach", "--name", name, "--init", "--memory", MEMORY, ...confined, ...volumes, IMAGE]);
  inside(name, "node", "/client.ts", "ready");
  return name;
}

/** Runs a shell command in a container of its own. */
function inImage(command: string, options: readonly string[] = []): string {
  const confined = ["--rm", "--read-only", "--network", "none", "--entrypoint", "sh", ...options];
  return podman([...runOptions(), ...confined, IMAGE, "-c", command]);
}

/** Limits below those of this process, because raising them may not be allowed. */
function runOptions(): readonly string[] {
  return ["run", "--tmpfs", "/tmp", "--ulimit", "nofile=8192:8192", "--ulimit", "nproc=4096:4096"];
}

function inside(name: string, ...command: readonly string[]): string {
  return podman(["exec", name, ...command]);
}

function assertText(text: string): void {
  if (!SAMPLE_TEXT.test(text)) throw new Error(`not the sample's text: ${text}`);
}

function buildah(...args: readonly string[]): string {
  return run("buildah", [...storage(), ...args]).trim();
}

function podman(args: readonly string[]): string {
  return run("podman", [...storage(), "--runtime", "runc", "--cgroup-manager", "cgroupfs", ...args]);
}

/** Nothing of this machine's own images and containers is used or changed. */
function storage(): readonly string[] {
  return ["--root", join(directory, "storage"), "--runroot", join(directory, "run"), "--storage-driver", driver];
}

function hasOverlay(): boolean {
  return readFileSync("/proc/filesystems", "utf8").includes("\toverlay\n");
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  const output = `${stdout}${stderr}`.split("\n").slice(-40).join("\n");
  throw new Error(`${program} ${args.join(" ")} ended with ${error?.message ?? String(status)}:\n${output}`);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function say(text: string): void {
  console.log(`image: ${text} (at ${Math.round((performance.now() - startedMs) / 1000)} s)`);
}
