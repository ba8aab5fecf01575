// Creates the two base images of the Dockerfile where no registry can be reached: Debian by debootstrap, reduced like `debian:bookworm-slim`, and the same with
// Node.js and npm, like `node:24-bookworm-slim`.
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";

export const BASES = { BASE_IMAGE: "localhost/debian-slim", NODE_IMAGE: "localhost/node-slim" } as const;

export interface BasesParts {
  /** Of the Dockerfile's base images, for example "bookworm". */
  readonly release: string;
  readonly directory: string;
  readonly run: (program: string, args: readonly string[]) => string;
  /** With the options that select its storage. */
  readonly buildah: (...args: readonly string[]) => string;
}

export function makeBases({ release, directory, run, buildah }: BasesParts): void {
  const debian = join(directory, "debian");
  run("debootstrap", ["--variant=minbase", release, debian]);
  reduceDebian(debian, release);
  const base = buildah("from", "scratch");
  buildah("add", "--quiet", base, debian, "/");
  buildah("commit", "--quiet", "--rm", base, BASES.BASE_IMAGE);
  rmSync(debian, { recursive: true });

  const node = buildah("from", "--pull-never", BASES.BASE_IMAGE);
  buildah("add", "--quiet", "--chmod", "755", node, process.execPath, "/usr/local/bin/node");
  const npm = dirname(dirname(realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim())));
  buildah("add", "--quiet", node, npm, "/usr/local/lib/node_modules/npm");
  const link = "ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm";
  buildah("run", "--isolation", "chroot", node, "--", "sh", "-c", link);
  // A machine behind a proxy that replaces certificates has this variable. No file of this image reaches the one that is built.
  const authorities = process.env["NODE_EXTRA_CA_CERTS"];
  if (authorities !== undefined && existsSync(authorities)) {
    buildah("add", "--quiet", node, authorities, "/usr/local/share/authorities.pem");
    buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/usr/local/share/authorities.pem", node);
  }
  buildah("commit", "--quiet", "--rm", node, BASES.NODE_IMAGE);
}

/** What Debian's own slim image lacks too, and its list of sources. */
function reduceDebian(root: string, release: string): void {
  const emptied = ["usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/lintian"];
  for (const folder of [...emptied, "var/cache/apt", "var/lib/apt/lists", "var/log"])
    for (const name of readdirSync(join(root, folder))) rmSync(join(root, folder, name), { recursive: true });
  rmSync(join(root, "etc/apt/sources.list"), { force: true });
  writeFileSync(join(root, "etc/apt/sources.list.d/debian.sources"), sourcesOf(release));
}

/** Those of this machine, which may name a mirror, if it runs the same release. */
function sourcesOf(release: string): string {
  const own = "/etc/apt/sources.list.d/debian.sources";
  if (existsSync(own) && readFileSync(own, "utf8").includes(release)) return readFileSync(own, "utf8");
  const source = (path: string, suites: string): string =>
    `Types: deb\nURIs: http://deb.debian.org/${path}\nSuites: ${suites}\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n`;
  return `${source("debian", `${release} ${release}-updates`)}\n${source("debian-security", `${release}-security`)}`;
}
